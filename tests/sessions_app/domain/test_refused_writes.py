"""What a refused write leaves behind (contract 8.5)."""

from hashlib import sha256

import pytest

from sessions_app import actions, queries
from sessions_app.errors import SessionFrozen
from sessions_app.models import RefusedWrite
from statebase_site.base import clock, json
from tests import factories as make


@pytest.fixture
def frozen(key):
    made = make.session(key, {"a": 1})
    make.freeze(made, by=key)
    return make.fresh(made)


def attempt(session, by, body, *, path="/v1/sessions/x/state"):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    asking = make.asking(by, body=raw, path=path)
    with pytest.raises(SessionFrozen) as refused:
        actions.update_state(session_id=session.public_id, changes={"a": 2}, by=asking)
    return queries.trace_for(by, refused.value.extras["trace_id"])


def details_of(trace):
    return queries.trace_details([trace])[trace.pk]


def test_the_trace_shows_what_was_attempted(key, agent, frozen):
    body = {"state": {"z": 1.0, "a": 2}, "reasoning": "Carry on"}
    trace = attempt(frozen, agent, body)
    assert details_of(trace) == {
        "operation": "state.update",
        "method": "PATCH",
        "path": "/v1/sessions/x/state",
        "code": "session_frozen",
        "attempted": body,
        "attempted_truncated": False,
        "attempted_sha256": sha256(json.dumps(body).encode()).hexdigest(),
        "reasoning": "Carry on",
        "frozen_at": clock.isoformat(frozen.frozen_at),
        "frozen_version": 1,
    }
    assert (trace.resource_type, trace.resource_id) == ("state", frozen.public_id)
    assert (trace.actor_label, trace.ip_address) == (agent.label, "192.0.2.7")
    assert "Carry on" not in trace.details_text  # content stands in a row that an erasure can empty


def test_a_body_is_kept_once_a_freeze(key, frozen):
    first, second = attempt(frozen, key, {"state": {"a": 2}}), attempt(frozen, key, {"state": {"a": 2}})
    other = attempt(frozen, key, {"state": {"a": 3}})
    assert details_of(first)["attempted"] == {"state": {"a": 2}}
    assert details_of(second)["attempted"] is None
    assert details_of(second)["attempted_sha256"] == details_of(first)["attempted_sha256"]
    assert details_of(other)["attempted"] == {"state": {"a": 3}}
    assert queries.refusals(make.fresh(frozen)).count == 3
    actions.resume(session_id=frozen.public_id, by=key)
    make.freeze(frozen, by=key)
    again = attempt(frozen, key, {"state": {"a": 2}})
    assert details_of(again)["attempted"] == {"state": {"a": 2}}
    assert queries.refusals(make.fresh(frozen)).count == 1


@pytest.mark.parametrize(("size", "truncated"), [(16_384, False), (16_385, True), (2_000_000, True)])
def test_a_body_is_kept_up_to_16_kib(key, frozen, size, truncated):
    body = b'{"state":{"a":"' + b"x" * (size - 18) + b'"}}'
    assert len(body) == size
    details = details_of(attempt(frozen, key, body))
    assert details["attempted_truncated"] is truncated
    if truncated:
        assert details["attempted"] == body[:16_384].decode()
    else:
        assert details["attempted"] == json.parse(body)
    assert details["attempted_sha256"] == sha256(body).hexdigest()


def test_a_body_cut_inside_a_character_is_kept(key, frozen):
    details = details_of(attempt(frozen, key, ('{"state":{"a":"' + "ü" * 16_000 + '"}}').encode()))
    assert details["attempted"].startswith('{"state":{"a":"üü')


@pytest.mark.parametrize("body", [b"", b"not json", b"[1]", b"\xff\xfe", b'"text\x00"', b'{"reasoning":5}'])
def test_any_body_can_be_kept(key, frozen, body):
    details = details_of(attempt(frozen, key, body))
    assert details["reasoning"] is None
    assert details["attempted_sha256"] == sha256(body).hexdigest()


def test_an_escaped_nul_in_the_attempt_is_kept_as_it_was_sent(key, frozen):
    details = details_of(attempt(frozen, key, b'{"state":{"a":"\\u0000"},"reason":"b\\u0000"}'))
    assert details["attempted"] == {"state": {"a": "\x00"}, "reason": "b\x00"}
    assert details["reasoning"] == "b\N{REPLACEMENT CHARACTER}"


def test_a_long_reasoning_is_not_kept_beside_a_body_that_is(key, frozen):
    body = {"reasoning": "x" * 100_000}
    for _ in range(2):
        attempt(frozen, key, body)
    assert all(len(each.reasoning) <= 16_384 for each in RefusedWrite.objects.all())


def test_a_path_of_any_characters_is_kept(key, frozen):
    assert details_of(attempt(frozen, key, b"{}", path="/v1/\x00/ü"))["path"].startswith("/v1/")


def test_refusals_are_counted_with_the_time_of_the_last(key, frozen):
    assert queries.refusals(frozen) == queries.Refusals(0, None)
    attempt(frozen, key, b"{}")
    last = attempt(frozen, key, b"{}")
    assert queries.refusals(frozen) == queries.Refusals(2, last.created_at)


def test_the_evidence_is_part_of_the_chain(key, frozen):
    before = make.fresh(frozen).chain_length
    trace = attempt(frozen, key, b"{}")
    assert trace.position == before + 1
    assert queries.verify_session(make.fresh(frozen)).ok


def test_once_the_attempt_is_emptied_the_trace_shows_null(key, frozen):
    trace = attempt(frozen, key, {"state": {"secret": 1}, "reasoning": "secret"})
    RefusedWrite.objects.update(attempted=None, reasoning=None)
    details = details_of(trace)
    assert (details["attempted"], details["reasoning"]) == (None, None)
    assert queries.verify_session(make.fresh(frozen)).ok
