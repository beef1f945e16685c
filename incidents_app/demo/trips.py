"""S4, open: prices that look odd, to be put right in the next deploy."""

from __future__ import annotations

from datetime import datetime, timedelta

from incidents_app import actions
from incidents_app.demo.story import Story, person, session_of
from statebase_site.access.models import Project
from statebase_site.base import clock


def _yesterday_morning() -> datetime:
    return (clock.now() - timedelta(days=1)).replace(hour=9, minute=12, second=37, microsecond=0)


def prices(project: Project) -> None:
    """Filed by an engineer who read an older trip; nobody commands it."""
    maria, jon = person(project, "maria"), person(project, "jon")
    session = session_of(project, "trip-with-two-branches")
    story = Story(_yesterday_morning())
    story.file(
        after=0,
        by=jon,
        title="Trip planner writes prices with one decimal",
        severity="S4",
        session_ids=[session.public_id],
        summary="“49.8 euros” in the plan, “62.40 euros” in the chat. Nobody pays a wrong amount.",
    )
    story.act(
        actions.add_follow_up,
        after=52 * 60,
        by=maria,
        text="Write all prices with two decimals in trip-planner 2.4",
        kind="deploy",
        owner="jon",
        due=story.moment.date() + timedelta(days=5),
    )
