"""The project a person works in, and the actor they are there."""

import hashlib
from typing import cast

from django.http import HttpRequest

from statebase_site.access import queries
from statebase_site.access.actor import Actor, IdempotencyKey, RequestFacts, person_actor
from statebase_site.access.errors import NoProject, ProjectNotFound
from statebase_site.access.models import Membership, Project
from statebase_site.base import json
from statebase_site.base.ids import new_id
from statebase_site.web.fields import idempotency_header
from statebase_site.web.requests import NumberedRequest, client_address

FORM_KEY = "idempotency_key"
"""Name of the hidden field that keeps a form from acting twice."""

_SESSION_KEY = "project"
_NEVER_KEPT = ("csrfmiddlewaretoken", FORM_KEY)


def new_form_key() -> str:
    """A value for the hidden field of one form: the same form sent twice acts once."""
    return new_id("form")


def memberships(request: HttpRequest) -> list[Membership]:
    """The memberships of the signed-in person; asked once a request."""
    kept = vars(request)
    if "_memberships" not in kept:
        user = request.user
        kept["_memberships"] = queries.memberships_of(user.pk) if user.is_authenticated else []
    return kept["_memberships"]


def current_membership(request: HttpRequest) -> Membership | None:
    """Where the person works: `?project=SLUG` (remembered from then on), else as before, else the first.

    None where they belong to no project. Raises ProjectNotFound for a project that is not theirs.
    """
    kept = vars(request)
    if "_membership" not in kept:
        kept["_membership"] = _choose(request, memberships(request))
    return kept["_membership"]


def _choose(request: HttpRequest, choices: list[Membership]) -> Membership | None:
    asked = request.GET.get("project")
    if asked:
        use_project(request, asked)
    remembered = request.session.get(_SESSION_KEY) if choices else None
    return next(
        (choice for choice in choices if choice.project.slug == remembered), choices[0] if choices else None
    )


def use_project(request: HttpRequest, slug: str) -> None:
    """Work in another project from now on. Raises ProjectNotFound unless the person is a member."""
    if not any(choice.project.slug == slug for choice in memberships(request)):
        raise ProjectNotFound(slug)
    if request.session.get(_SESSION_KEY) != slug:
        request.session[_SESSION_KEY] = slug


def actor_for(request: HttpRequest, project: Project | None = None) -> Actor:
    """The signed-in person as an actor in `project`, or in the one they work in.

    Raises NoProject where they belong to none, ProjectNotFound where `project` is not theirs.
    """
    if project is None:
        membership = current_membership(request)
        if membership is None:
            raise NoProject
    else:
        membership = next((one for one in memberships(request) if one.project_id == project.pk), None)
        if membership is None:
            raise ProjectNotFound(project.slug)
    return person_actor(membership, _facts(request))


def typed_fields(request: HttpRequest) -> dict[str, list[str]]:
    """What the person typed into a form: all fields but tokens and passwords."""
    return {
        name: values
        for name, values in request.POST.lists()
        if name not in _NEVER_KEPT and "password" not in name
    }


def _facts(request: HttpRequest) -> RequestFacts:
    numbered = cast(NumberedRequest, request)
    body, idempotency = b"", None
    if request.method == "POST":
        fields: json.JsonObject = {
            name: values[0] if len(values) == 1 else [*values]
            for name, values in typed_fields(request).items()
        }
        body = json.dumps(fields).encode(errors="replace")
        if key := request.POST.get(FORM_KEY):
            idempotency = IdempotencyKey(
                idempotency_header(key.replace("\x00", "")), hashlib.sha256(body).hexdigest()
            )
    return RequestFacts(
        request_id=numbered.request_id,
        started=numbered.started,
        method=request.method or "",
        path=request.path,
        body=body,
        ip_address=client_address(request),
        idempotency=idempotency,
    )
