"""What every page's template may read of the apps; asked only where a page shows it."""

from collections.abc import Callable
from functools import partial

from django.http import HttpRequest

from incidents_app.queries.numbers import OpenNow, open_now
from statebase_site.access.current import current_membership
from statebase_site.access.errors import ProjectNotFound


def incidents(request: HttpRequest) -> dict[str, Callable[[], OpenNow | None]]:
    """`open_incidents`: what is open in the project that the person works in."""
    return {"open_incidents": partial(open_incidents, request)}


def open_incidents(request: HttpRequest) -> OpenNow | None:
    """What is open, read once a request; None where nobody is signed in to a project."""
    kept = vars(request)
    if "_open_incidents" not in kept:
        try:
            membership = current_membership(request)
        except ProjectNotFound:
            membership = None
        kept["_open_incidents"] = open_now(membership.project_id) if membership else None
    return kept["_open_incidents"]
