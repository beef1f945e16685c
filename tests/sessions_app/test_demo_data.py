"""The demo data: its stories are there, they obey the rules, and they load once."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from sessions_app import queries
from sessions_app.demo import load_demo
from sessions_app.models import AgentSession, RefusedWrite
from statebase_site.base import clock
from tests import factories as make

NOW = datetime(2026, 11, 29, 14, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def demo(module_db):
    """The project with its demo."""
    project = make.project("Demo of the tests")
    with clock.at(NOW):
        load_demo(project)
    return project


@pytest.fixture
def sessions(demo):
    """Newest first."""
    return list(AgentSession.objects.filter(project=demo).order_by("-created_at"))


def named(sessions, agent_id):
    return [each for each in sessions if each.agent_id == agent_id]


def state(session, number=None):
    return queries.document_at(session, session.head_version if number is None else number).value


def versions(session):
    return list(queries.versions_of(session))


def test_there_are_twelve_sessions_of_several_agents_and_users_over_a_month(sessions):
    assert len(sessions) == 12
    assert len({each.agent_id for each in sessions}) >= 8
    assert len({each.user_id for each in sessions}) >= 8
    ages = [NOW - each.created_at for each in sessions]
    assert timedelta(days=20) < max(ages) <= timedelta(days=30)
    assert all(each.updated_at <= NOW for each in sessions)
    today = [each for each in sessions if NOW - each.updated_at < timedelta(hours=24)]
    assert len(today) == 3
    assert timedelta() < NOW - sessions[0].updated_at < timedelta(minutes=10)


def test_every_history_fits_and_never_expires(sessions):
    for session in sessions:
        assert queries.verify_session(session).first_bad is None, session
        assert session.expires_at is None


def test_the_newest_is_the_travel_agent_left_corrupted_for_the_visitor(sessions):
    travel = sessions[0]
    assert (travel.agent_id, travel.head_version, travel.rollback_count) == ("travel-agent", 7, 0)
    good, bad = state(travel, 4), state(travel, 5)
    assert (good["user_request"], good["destination"]) == ("book flight", "New York")
    assert "pending_payment" in good
    assert (bad["user_request"], bad["destination"], bad["dates"]) == ("cancel everything", None, None)
    assert "pending_payment" not in bad
    assert state(travel)["destination"] is None
    assert queries.version_row(travel, 5).reasoning == "Cancelling as the user asked"
    effects = queries.rollback_preview(travel, 4).effects
    assert [(each.tool, each.reversibility) for each in effects] == [("cancel_booking", "irreversible")]


def test_the_loop_repeats_one_call_and_is_escalated(sessions):
    loop = named(sessions, "support-agent")[0]
    calls = Counter(
        turn.input["content"] for turn in queries.turns_of(loop) if turn.input["type"] == "tool_call"
    )
    assert max(calls.values()) == 5
    assert loop.rollback_count == 1
    assert state(loop)["escalated_to_human"] is True
    assert "attempts" in state(loop)


def test_the_wrong_payment_stands_until_people_put_it_right(sessions):
    (payment,) = named(sessions, "invoice-agent")
    amounts = [{each["id"]: each["amount"] for each in state(payment, n)["invoices"]} for n in (2, 5)]
    assert [each["INV-20417"] for each in amounts] == [1240.0, 12400.0]
    assert (payment.head_version, payment.rollback_count) == (5, 0)
    assert state(payment)["paid_total"] == 12718.45


def test_one_session_is_frozen_today_and_its_agent_was_refused(sessions):
    (frozen,) = [each for each in sessions if each.is_frozen]
    assert NOW - frozen.frozen_at < timedelta(hours=24)
    refused = list(RefusedWrite.objects.filter(agent_session=frozen).order_by("pk"))
    assert Counter(each.operation for each in refused) == {"state.update": 3, "turn.add": 1}
    assert {each.actor_label for each in refused} == {"sb_R2vLe"}
    assert refused[1].reasoning == "Carrying on with the rest of the group"
    # The same body again is named by its hash only.
    assert [each.attempted is None for each in refused] == [False, False, True, False]


def test_there_is_a_fork_of_a_fork(sessions):
    child, parent, root = named(sessions, "trip-planner")
    assert (root.lineage_depth, parent.lineage_depth, child.lineage_depth) == (0, 1, 2)
    assert (child.forked_from, parent.forked_from) == (parent.public_id, root.public_id)
    assert child.lineage_root == root.public_id
    assert "Lia (4)" in state(child)["party"]


def test_one_has_two_thousand_versions(sessions):
    (stock,) = named(sessions, "stock-agent")
    assert stock.head_version == 2000
    assert all(each["on_hand"] >= 0 for each in state(stock)["shelves"])
    assert {each.kind for each in versions(stock)} == {"create", "replace", "turn", "update", "rollback"}


def test_one_has_a_state_of_300_kb(sessions):
    (contract,) = named(sessions, "contract-reviewer")
    head = queries.version_row(contract, contract.head_version)
    assert 290_000 < head.text_bytes < 320_000
    assert head.stored_bytes < 0.02 * head.text_bytes


def test_the_others_are_a_coding_agent_and_a_medical_intake_that_was_frozen_and_resumed(sessions):
    (coding,) = named(sessions, "coding-agent")
    assert state(coding)["tests"] == {"passed": 190, "failed": 0}
    (intake,) = named(sessions, "medical-intake")
    assert not intake.is_frozen
    assert any(each.frozen for each in versions(intake))
    assert state(intake)["medication"][0]["dose"] == {"value": 50, "unit": "µg"}


def test_reasonings_and_effects_are_told(sessions):
    for session in sessions:
        assert all(each.reasoning for each in versions(session)), session
        for turn in queries.turns_of(session):
            effect = queries.effect_of(turn)
            assert effect is None or effect.reversibility != "unknown"


def test_loading_again_adds_nothing(demo, sessions):
    load_demo(demo)
    assert AgentSession.objects.filter(project=demo).count() == 12


def test_the_content_is_the_same_each_time(demo):
    other = make.project("Other")
    load_demo(other)

    def content(of):
        return [
            (each.agent_id, each.user_id, each.head_version, each.turn_count, each.rollback_count)
            for each in AgentSession.objects.filter(project=of).order_by("pk")
        ]

    assert content(demo) == content(other)
