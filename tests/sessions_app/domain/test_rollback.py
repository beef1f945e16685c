"""Rule 3: a rollback makes a new version with the earlier state, and removes nothing (contract 6.3, 7.2)."""

import pytest

from sessions_app import actions, queries
from sessions_app.errors import SessionNotFound, VersionConflict, VersionNotFound
from sessions_app.queries import LiveRange
from tests import factories as make
from tests.documents import typed


def texts(session):
    return [document.text for _, document in queries.documents_at(session, range(session.head_version + 1))]


def test_the_new_version_has_the_earlier_state_and_nothing_is_removed(key):
    made = make.session(key, {"z": 1.0, "a": [1, {"b": None}]})
    make.update(made, {"a": 2, "new": "x"}, by=key)
    make.update(made, {"a": 3}, by=key)
    before = texts(make.fresh(made))
    version = make.rollback(made, 0, by=key, reason="It was right then")
    made = make.fresh(made)
    assert (version.number, version.kind, version.restored_from) == (3, "rollback", 0)
    assert version.reasoning == "It was right then"
    assert queries.document_at(made, 3).text == before[0]
    assert texts(made)[:3] == before
    assert (made.head_version, made.rollback_count) == (3, 1)


def test_without_a_reason_it_says_what_it_restored(key):
    made = make.session_with_versions(key, 2)
    assert make.rollback(made, -1, by=key).reasoning == "Rolled back to version 1"


@pytest.mark.parametrize(("asked", "restored"), [(6, 6), (0, 0), (-0, 0), (-3, 3), (-1, 5), (-6, 0)], ids=str)
def test_each_target_has_its_defined_answer(key, asked, restored):
    made = make.session_with_versions(key, 6)
    version = make.rollback(made, asked, by=key)
    assert (version.number, version.restored_from) == (7, restored)
    assert queries.document_at(made, 7).value["step"] == restored
    details = queries.trace_details(queries.traces_for(key).filter(public_id=version.trace_id))
    assert next(iter(details.values())) == {
        "from_version": 6,
        "to_version": restored,
        "new_version": 7,
        "requested_version": asked,
        "while_frozen": False,
        "reason": f"Rolled back to version {restored}",
        "reasoning": f"Rolled back to version {restored}",
        "state_diff": {
            "added": {},
            "removed": {},
            "modified": {"step": {"from": 6, "to": restored}} if restored != 6 else {},
        },
    }


@pytest.mark.parametrize("asked", [7, -7, 10**20, -(10**20)], ids=str)
def test_a_missing_version_leaves_everything_as_it_was(key, asked):
    made = make.session_with_versions(key, 6)
    with pytest.raises(VersionNotFound):
        make.rollback(made, asked, by=key)
    after = make.fresh(made)
    assert (after.head_version, after.rollback_count, after.updated_at) == (6, 0, made.updated_at)
    assert after.chain_length == made.chain_length


def test_rolling_back_a_rollback_brings_back_what_it_undid(key):
    made = make.session_with_versions(key, 3)
    make.rollback(made, 1, by=key)  # v4
    version = make.rollback(made, -1, by=key)  # v5
    assert version.restored_from == 3
    assert queries.document_at(made, 5).text == queries.document_at(made, 3).text


def test_a_rollback_leaves_turns_where_they_are(key):
    made = make.session_with_versions(key, 1)
    made_turn = make.turn(made, by=key, state_after={"answer": 42})
    make.rollback(made, 0, by=key)
    assert [each.public_id for each in queries.turns_of(made)] == [made_turn.public_id]
    assert make.fresh(made).turn_count == 1


def test_the_expected_version_is_checked(key):
    made = make.session_with_versions(key, 3)
    with pytest.raises(VersionConflict):
        make.rollback(made, 1, by=key, expected_version=2)
    assert make.rollback(made, 1, by=key, expected_version=3).number == 4


def test_a_running_session_stays_running_whatever_it_is_rolled_back_to(key):
    made = make.session(key, {"a": 1, "frozen": "no", "incident": {"id": 7}})
    make.freeze(made, by=key)  # v1
    actions.resume(session_id=made.public_id, by=key)  # v2
    version = make.rollback(made, 1, by=key)
    assert not version.frozen
    assert typed(queries.document_at(made, 3).value) == typed({"a": 1, "frozen": False, "incident": False})
    assert not make.fresh(made).is_frozen
    make.rollback(made, 0, by=key)
    assert typed(queries.document_at(made, 4).value) == typed(
        {"a": 1, "frozen": "no", "incident": {"id": 7}}
    )  # ordinary data comes back as it was


def test_an_incident_that_is_no_control_key_comes_back_as_it_was(key):
    made = make.session(key, {"incident": "INCIDENT-1"})
    make.update(made, {"frozen": True}, by=key)
    actions.update_state(session_id=made.public_id, changes={"frozen": False}, by=key)
    make.rollback(made, 1, by=key)
    assert queries.document_at(made, 3).value == {"incident": "INCIDENT-1", "frozen": False}


# What is live and what is undone ------------------------------------------------------------------------


def history(key, *steps):
    """A session of updates (None) and rollbacks (a number)."""
    made = make.session(key, {"step": 0})
    for number, step in enumerate(steps, 1):
        if step is None:
            make.update(made, {"step": number}, by=key)
        else:
            make.rollback(made, step, by=key)
    return make.fresh(made)


def live(session):
    ranges = queries.live_ranges(session)
    return [number for number in range(session.head_version + 1) if queries.is_live(number, ranges)]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], [0]),
        ([None, None], [0, 1, 2]),
        ([None, None, None, 1], [0, 1, 4]),
        ([None, None, None, 1, None], [0, 1, 4, 5]),
        ([None, None, 1, 2], [0, 1, 2, 4]),  # the rollback is rolled back
        ([None, None, 0, 0], [0, 4]),
        ([None, None, 2], [0, 1, 2, 3]),  # to the current one: nothing is undone
        ([None, None, 0, None, 2, None], [0, 1, 2, 5, 6]),
        ([None, 0, None, 2], [0, 2, 4]),  # to a rollback
        ([None, None, None, 0, None, 3, 5], [0, 4, 5, 7]),
    ],
)
def test_the_live_versions_are_the_line_of_descent_of_the_current_state(key, steps, expected):
    session = history(key, *steps)
    assert live(session) == expected
    # The same worked out one version after the other.
    parent = {0: None}
    for version in queries.versions_of(session).filter(number__gt=0):
        parent[version.number] = (
            version.number - 1 if version.restored_from is None else version.restored_from
        )
    line, number = [], session.head_version
    while number is not None:
        line.append(number)
        number = parent[number]
    assert live(session) == line[::-1]


def test_ranges_are_newest_first(key):
    assert queries.live_ranges(history(key, None, None, 1, None)) == [LiveRange(3, 4), LiveRange(0, 1)]


# The rehearsal ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "target", "undone"),
    [
        ([None, None, None], 1, [2, 3]),
        ([None, None, None], 3, []),
        ([None, None, None, 1], 0, [1, 4]),
        ([None, None, None, 1, None], 3, [4, 5]),  # back to what the rollback had undone
        ([None, None, None, 0, None, 3], 5, [1, 2, 3, 6]),  # those before the target are undone as well
    ],
)
def test_the_rehearsal_names_the_versions_that_would_be_undone(key, steps, target, undone):
    session = history(key, *steps)
    assert [each.number for each in queries.rollback_preview(session, target).undone_versions] == undone
    before = set(live(session))
    make.rollback(session, target, by=key)
    assert sorted(before - set(live(make.fresh(session)))) == undone


def test_the_rehearsal_changes_nothing_and_names_what_a_rollback_cannot_undo(key):
    made = make.session_with_versions(key, 1)
    make.turn(made, "Before the target", by=key, state_after={"step": 2})  # made version 2 itself
    after_target = make.turn(made, "At the target, without a version", by=key)
    refund = make.tool_call(made, "refund", by=key, reversibility="compensatable", amount=40)
    make.turn(made, "After it", by=key, state_after={"step": 3})
    mail = make.tool_call(made, "send_mail", by=key, to="a@example.org")
    early_fork = actions.fork(session_id=made.public_id, version=2, by=key).agent_session
    late_fork = actions.fork(session_id=made.public_id, version=3, by=key).agent_session
    before = make.fresh(made)
    preview = queries.rollback_preview(before, -1)
    assert (preview.from_version, preview.to_version) == (3, 2)
    assert [each.number for each in preview.undone_versions] == [3]
    assert [turn.number for turn in preview.turns] == [after_target.number, 3, 4, mail.number]
    assert [(effect.turn.number, effect.tool, effect.arguments) for effect in preview.effects] == [
        (refund.number, "refund", {"amount": 40}),
        (mail.number, "send_mail", {"to": "a@example.org"}),
    ]
    assert [effect.reversibility for effect in preview.effects] == ["compensatable", "unknown"]
    assert preview.forks == [late_fork]
    assert early_fork not in preview.forks
    after = make.fresh(made)
    assert (after.head_version, after.chain_hash, after.updated_at) == (
        before.head_version,
        before.chain_hash,
        before.updated_at,
    )


@pytest.mark.parametrize(
    ("given", "tool", "reversibility"),
    [
        ({"type": "tool_call", "content": "x", "tool_metadata": {"name": 5}}, "x", "unknown"),
        ({"type": "tool_call", "content": "x", "tool_metadata": "broken"}, "x", "unknown"),
        (
            {"type": "tool_call", "content": "x", "tool_metadata": {"name": "t", "reversibility": "maybe"}},
            "t",
            "unknown",
        ),
        (
            {"type": "tool_call", "content": "", "tool_metadata": {"name": "t", "reversibility": []}},
            "t",
            "unknown",
        ),
        (
            {
                "type": "tool_call",
                "content": "",
                "tool_metadata": {"name": "t", "reversibility": "reversible"},
            },
            "t",
            "reversible",
        ),
    ],
)
def test_a_tool_call_of_any_shape_is_an_effect(key, given, tool, reversibility):
    made = make.session(key)
    actions.add_turn(session_id=made.public_id, input=given, output=make.text("ok"), by=key)
    (turn,) = queries.turns_of(made)
    effect = queries.effect_of(turn)
    assert (effect.tool, effect.reversibility) == (tool, reversibility)


def test_a_rehearsal_to_a_missing_version_is_not_found(key):
    with pytest.raises(VersionNotFound):
        queries.rollback_preview(make.session_with_versions(key, 1), 2)


def test_a_deleted_session_is_not_rolled_back(key):
    made = make.session_with_versions(key, 1)
    actions.delete_session(session_id=made.public_id, by=key)
    with pytest.raises(SessionNotFound):
        make.rollback(made, 0, by=key)
