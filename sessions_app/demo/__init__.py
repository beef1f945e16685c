"""Demo data: twelve sessions of several agents over the last thirty days, made through the actions.

The content is the same each time; only the times follow the day on which it is loaded.
"""

from __future__ import annotations

from sessions_app.demo import documents, engineering, medical, money, records, support, travel, warehouse
from sessions_app.demo.story import mark
from sessions_app.models import AgentSession
from statebase_site.access.models import Project
from statebase_site.base import clock

# Oldest first. Forks are told with the session that they come from.
_STORIES = (
    support.ALL_WELL,
    documents.LONG_CONTRACT,
    travel.TWO_BRANCHES,
    warehouse.TWO_THOUSAND_VERSIONS,
    medical.INTAKE,
    engineering.FAILING_TEST,
    money.WRONG_PAYMENT,
    support.LOOP,
    records.FROZEN,
    travel.CORRUPTED,
)

# What agents do once people have let them go on.
_GOING_ON = dict([money.PAID_RIGHT])


def load_demo(project: Project) -> None:
    """Tell every story that the project does not have yet."""
    now = clock.now()
    for slug, tell in _STORIES:
        if not AgentSession.objects.filter(project=project, imported_from=mark(slug)).exists():
            tell(project, now, slug)


def go_on(project: Project, slug: str) -> None:
    """Tell what the agent of a story does after its session was stopped, put right and resumed."""
    _GOING_ON[slug](project, slug)
