"""S3, corrected and resolved: the support agent that called the same tool five times. Its review is owed."""

from __future__ import annotations

from datetime import timedelta

from incidents_app import actions
from incidents_app.demo.story import Story, agent, person, session_of
from statebase_site.access.models import Project


def loop(project: Project) -> None:
    """Filed by the agent itself, more than once, and given a severity by a person."""
    maria, jon = person(project, "maria"), person(project, "jon")
    session = session_of(project, "support-loop")
    story = Story(session.updated_at)
    for seconds in (2, 7, 31):
        story.file(
            after=seconds,
            by=agent(project, "sb_T4mWd"),
            title="refund_charge failed five times with the same answer",
            session_ids=[session.public_id],
        )
    story.act(
        actions.change_severity,
        after=16 * 60,
        by=maria,
        severity="S3",
        reason="Daniel Okafor waited and was told nothing of use; no money moved.",
    )
    story.act(actions.set_commander, after=8, by=maria, name="maria")
    story.act(
        actions.edit,
        after=75,
        by=maria,
        title="Support agent stuck on a refund that could not succeed",
        summary="Five times refund_charge answered charge_disputed, and five times the agent tried again. It "
        "rolled back by itself and handed over to billing.",
    )
    story.act(
        actions.pin,
        after=110,
        by=jon,
        session_id=session.public_id,
        versions=[session.head_version],
        note="As it was handed over to billing.",
    )
    story.act(
        actions.correct,
        after=24 * 60,
        by=maria,
        session_id=session.public_id,
        version=session.head_version,
        text="Billing wrote to Daniel: his bank refunds the second charge, and the dispute is closed.",
    )
    story.act(
        actions.answer_causes,
        after=9 * 60,
        by=maria,
        text="An answer that is final was treated like one that passes: nothing looked at the error's code.",
        no_validation=True,
    )
    story.act(
        actions.add_follow_up,
        after=60,
        by=maria,
        text="Take charge_disputed as final, and stop after two equal failures",
        kind="validation",
        owner="jon",
        due=story.moment.date() + timedelta(days=3),
    )
    story.act(actions.resolve, after=4 * 60, by=maria)
    story.act(actions.write_review, after=13 * 60, by=maria, failure_mode="infinite_loop")
