"""S2, from its filing to its close: a payment of ten times the amount, recalled before the bank's run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from incidents_app import actions
from incidents_app.demo.story import Story, agent, person, session_of, trace_of_turn
from incidents_app.models import Effect, Scenario
from sessions_app import actions as sessions
from sessions_app import queries
from sessions_app.models import AgentSession
from statebase_site.access.actor import Actor
from statebase_site.access.models import Project
from statebase_site.base.json import JsonObject

STORY = "wrong-payment"

_BECAME: dict[str, tuple[str, str]] = {
    "read_invoice": ("accepted", "Reading an invoice changes nothing."),
    "schedule_payment": ("reversed", "Jon recalled pay_70022 at the bank before the run of 17:00."),
    "notify_supplier": ("compensated", "Nordlys got a corrected payment advice, and an apology."),
}


def wrong_payment(project: Project, goes_on: Callable[[Project, str], None]) -> None:
    """Filed by an engineer, commanded by a responder, reviewed by another."""
    maria, ingrid, jon = (person(project, name) for name in ("maria", "ingrid", "jon"))
    session = session_of(project, STORY)
    story = Story(session.updated_at)
    _stop(story, session, maria, jon)
    _recover(story, session, maria)
    scenario = _prevent(story, session, maria, agent(project, "sb_Kx7pA"))
    story.act(
        actions.resume,
        after=6 * 60,
        by=maria,
        session_id=session.public_id,
        reason="release 1.9.1 reads amounts in the supplier's number format",
    )
    goes_on(project, STORY)
    story.act(actions.resolve, after=19 * 60, by=maria)
    _review(story, session, scenario, maria, ingrid, jon)


def _stop(story: Story, session: AgentSession, maria: Actor, jon: Actor) -> None:
    story.file(
        after=31 * 60,
        by=jon,
        title="Invoice agent scheduled 12,400.00 on an invoice of 1,240.00",
        severity="S2",
        session_ids=[session.public_id],
        suspects={session.public_id: 5},
        summary="The daily check of scheduled payments shows INV-20417 of Nordlys Elektro with ten times its "
        "amount. The agent raised the limit per payment by itself to get there.",
    )
    story.act(
        actions.freeze,
        after=48,
        by=jon,
        traffic="human_queue",
        traffic_note="Invoices of run 48 are paid by hand today.",
    )
    story.act(actions.set_commander, after=100, by=maria, name="maria")
    story.act(actions.join, after=35, by=jon)
    story.act(
        actions.add_note,
        after=70,
        by=jon,
        text="The bank's run is at 17:00: until then pay_70022 can be recalled.",
    )


def _recover(story: Story, session: AgentSession, maria: Actor) -> None:
    told = next(turn for turn in queries.turns_of(session) if "notify_supplier" in str(turn.input["content"]))
    story.act(
        actions.pin,
        after=130,
        by=maria,
        session_id=session.public_id,
        versions=[2, 3, 4, 5],
        traces=[trace_of_turn(session, told.public_id)],
        note="Amount, limit and payment, and what the supplier was told.",
    )
    story.act(
        actions.record_divergence,
        after=215,
        by=maria,
        session_id=session.public_id,
        divergence_version=3,
        last_good_version=2,
        found_how="the amount: v3 says 12400.0, the scanned page 1.240,00",
    )
    story.act(actions.rollback, after=95, by=maria, session_id=session.public_id)
    for effect in story.effects():
        _decide(story, session, effect, maria)


def _decide(story: Story, session: AgentSession, effect: Effect, maria: Actor) -> None:
    disposition, note = _BECAME[effect.tool]
    story.act(
        actions.decide_effect,
        after=160,
        by=maria,
        session_id=session.public_id,
        turn_id=effect.turn_id,
        disposition=disposition,
        note=note,
    )


def _prevent(story: Story, session: AgentSession, maria: Actor, runner: Actor) -> Scenario:
    story.act(
        actions.answer_causes,
        after=8 * 60,
        by=maria,
        text="The page was read with the wrong number format, at a confidence of 0.71. Nothing compared the "
        "amount with the order, and the agent was free to raise its own limit.",
        missing_checkpoint=True,
        no_validation=True,
        no_permission_check=True,
    )
    today = story.moment.date()
    for text, kind, owner, days in (
        ("Compare each amount with its order before a payment is scheduled", "validation", "jon", 1),
        ("Let only people raise limit_per_payment", "permission", "maria", 1),
        ("Try the number formats of all supplier countries against last year's invoices", "other", "jon", 1),
    ):
        story.act(
            actions.add_follow_up,
            after=45,
            by=maria,
            text=text,
            kind=kind,
            owner=owner,
            due=today + timedelta(days=days),
        )
    made = story.act(
        actions.create_scenario,
        after=4 * 60,
        by=maria,
        name="A decimal comma is read as a thousands separator",
        session_id=session.public_id,
        fork_version=2,
        fault={
            "kind": "tool_garbage",
            "tool": "read_invoice",
            "value": "Nordlys Elektro AS · Faktura 20417 · Sum å betale: 12400.00 EUR",
        },
        predicate="limit_per_payment == `5000.0` && max(invoices[].amount) <= limit_per_payment",
    )
    wrong: JsonObject = {"limit_per_payment": 15000.0, "paid_total": 12718.45}
    _run(story, made, runner, "invoice-agent@1.9.0", wrong, "Raised the limit for this supplier")
    again = story.do(actions.request_run, after=11 * 60, scenario_id=made.scenario.public_id, by=maria)
    asked: JsonObject = {"step": "waiting for a person", "question": "12400.00 differs from order PO-8836"}
    _run(
        story,
        again,
        runner,
        "invoice-agent@1.9.1",
        asked,
        "The amount differs from the order: asked a person",
    )
    return made.scenario


def _run(
    story: Story, made: actions.ScenarioWritten, runner: Actor, version: str, changes: JsonObject, why: str
) -> None:
    """What the agent does on the fork, and its report."""
    fork = made.run.session_id
    story.do(sessions.update_state, after=25, session_id=fork, changes=changes, reasoning=why, by=runner)
    story.do(
        actions.report_run,
        after=2,
        scenario_id=made.scenario.public_id,
        session_id=fork,
        agent_version=version,
        by=runner,
    )


def _review(
    story: Story, session: AgentSession, scenario: Scenario, maria: Actor, ingrid: Actor, jon: Actor
) -> None:
    story.act(
        actions.write_review,
        after=18 * 3600,
        by=maria,
        failure_mode="tool_call_failure",
        checkpoint=(session.public_id, 2),
        lessons="A confidence of 0.71 is not enough for money. A limit that an agent may raise is no limit. "
        "The daily check found it in half an hour: keep it before the bank's run.",
        scenario_id=scenario.public_id,
    )
    story.act(actions.approve_review, after=50 * 60, by=ingrid)
    story.act(actions.finish_follow_up, after=90 * 60, by=maria, number=1)
    story.act(actions.finish_follow_up, after=25 * 60, by=maria, number=2)
    story.act(actions.close, after=4 * 3600, by=maria)
