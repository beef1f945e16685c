"""What every page's template may read about the person and their project."""

from typing import Any

from django.http import HttpRequest

from statebase_site.access.current import current_membership, memberships, new_form_key
from statebase_site.access.errors import ProjectNotFound


def page(request: HttpRequest) -> dict[str, Any]:
    """`current_project`, `projects`, `membership`, and `form_key`, a fresh one each time it is written."""
    found: dict[str, Any] = {"form_key": new_form_key}
    user = getattr(request, "user", None)  # not there where a request was refused before anybody signed in
    if user is None or not user.is_authenticated:
        return found
    try:
        membership = current_membership(request)
    except ProjectNotFound:
        membership = None
    return found | {
        "membership": membership,
        "current_project": membership.project if membership else None,
        "projects": [one.project for one in memberships(request)],
    }
