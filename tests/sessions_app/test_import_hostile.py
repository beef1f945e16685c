"""Records that are cut, spoilt or made to hurt: each gives runs or reasons, never anything else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.importers import RecordedState, RecordedTurn, Run, Unreadable
from tests.documents import documents
from tests.recordings import EXAMPLES, as_lines, read
from tests.recordings.frameworks import checkpoint
from tests.recordings.logs import asked, told
from tests.recordings.spoilt import spoilt

pytestmark = pytest.mark.once


def check(found):
    """What holds of all that reading a file gives."""
    for each in found:
        assert isinstance(each, Run | Unreadable)
        if isinstance(each, Unreadable):
            assert each.reason
            continue
        lines = [each.steps]
        for branch in each.branches:
            assert 0 <= branch.of < len(lines)
            assert 0 <= branch.after <= len(lines[branch.of])
            lines.append(branch.steps)
        for step in (step for line in lines for step in line):
            assert isinstance(step, RecordedTurn | RecordedState)
            if isinstance(step, RecordedTurn):
                for side in (step.input, step.output):
                    assert isinstance(side["type"], str)
                    assert isinstance(side["content"], str)
                assert step.reasoning is None or isinstance(step.reasoning, str)
                assert step.state_after is None or isinstance(step.state_after, dict)
            else:
                assert isinstance(step.state, dict)


@given(spoilt(), st.one_of(st.none(), documents(4)))
def test_a_spoilt_record_gives_runs_or_reasons(document, states):
    check(read(document, states))


@given(spoilt())
def test_a_spoilt_log_gives_runs_or_reasons(document):
    check(read(as_lines(document if isinstance(document, list) else [document]), name="log.jsonl"))


@given(st.sampled_from(sorted(EXAMPLES)), st.floats(0, 1, exclude_max=True))
def test_a_cut_record_gives_runs_or_reasons(name, part):
    whole = json.dumps(EXAMPLES[name]).encode()
    (found,) = read(whole[: int(len(whole) * part)])
    assert isinstance(found, Unreadable)
    if isinstance(EXAMPLES[name], list):
        lines = as_lines(EXAMPLES[name])
        check(read(lines[: int(len(lines) * part)], name="log.jsonl"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_nesting_without_end_is_refused(name):
    deep = json.dumps(EXAMPLES[name]).replace('"', "[" * 50_000 + '"', 1)
    (found,) = read(deep.encode())
    assert isinstance(found, Unreadable)


def test_a_long_log_with_many_rewinds_is_read_in_its_time():
    entries = [asked(1, None, "A")]
    for number in range(2, 6000, 2):
        entries += [told(number, number - 1, "a"), asked(number + 1, number, "B", timestamp=None)]
    entries += [asked(number, 2, "C", timestamp=None) for number in range(10_001, 16_000)]
    (run,) = read(as_lines(entries), name="log.jsonl")
    assert len(run.steps) == 3000
    assert len(run.branches) == 5999


def test_rewinds_of_rewinds_without_end_are_read():
    """Each line leaves the one before it: deeper than Python's own calls may go."""
    entries = [asked(1, None, "A"), told(2, 1, "a"), asked(3, 2, "B")]
    for number in range(4, 6004, 2):
        entries += [
            asked(number, number - 2 if number > 4 else 2, "C", timestamp=None),
            asked(number + 1, number, "D", timestamp=None),
        ]
    (run,) = read(as_lines(entries), name="log.jsonl")
    check([run])
    assert len(run.branches) > 1000


def test_references_that_would_make_endless_text_are_refused():
    document = {
        "messages": [{"role": "user", "content": "x" * 1_000_000}],
        "history": [checkpoint(1, None, {"message_refs": [0] * 1000})],
    }
    (found,) = read(document)
    assert "more text than can be read" in found.reason


def test_patterns_cannot_be_made_slow():
    fences, arrows = "```" * 200_000, "(->" * 200_000
    spoken = [{"role": "human", "content": "Q"}, {"role": arrows, "content": fences}]
    check(read({"mistake_step": "1", "history": spoken}))
    blocks = "```sh" * 200_000
    mini = [{"role": "assistant", "content": blocks}, {"role": "user", "content": "<returncode>"}]
    check(read([*mini, {"role": "assistant", "content": "```sh\n" + blocks}]))
