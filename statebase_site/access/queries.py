"""Reads of access: whose project this is, and its keys."""

from datetime import datetime

from django.db.models import Q, QuerySet

from statebase_site.access.actor import Actor
from statebase_site.access.errors import KeyNotFound, MemberNotFound
from statebase_site.access.models import ApiKey, Membership, Project
from statebase_site.base.ids import findable


def memberships_of(user_pk: int) -> list[Membership]:
    """A person's memberships with their projects, by the projects' names."""
    return list(
        Membership.objects.select_related("project", "user").filter(user_id=user_pk).order_by("project__name")
    )


def members_of(project: Project) -> list[Membership]:
    """Who belongs to a project, by name."""
    return list(
        Membership.objects.select_related("project", "user")
        .filter(project=project)
        .order_by("user__username")
    )


def member_for(by: Actor, member_id: int) -> Membership:
    """A member of the actor's project. Raises MemberNotFound."""
    found = Membership.objects.select_related("project", "user").filter(project=by.project, pk=member_id)
    member = found.first()
    if member is None:
        raise MemberNotFound(member_id)
    return member


def keys_of(project: Project) -> QuerySet[ApiKey]:
    """All keys of a project, also those that ended, newest first."""
    return ApiKey.objects.filter(project=project)


def keys_in_force(project: Project, now: datetime) -> QuerySet[ApiKey]:
    """Keys that open the door at `now`, newest first."""
    return ApiKey.objects.filter(project=project, revoked_at=None).exclude(expires_at__lte=now)


def keys_ended(project: Project, now: datetime) -> QuerySet[ApiKey]:
    """Revoked and expired keys, newest first."""
    return ApiKey.objects.filter(Q(revoked_at__isnull=False) | Q(expires_at__lte=now), project=project)


def key_for(by: Actor, key_id: str) -> ApiKey:
    """The key of the actor's project. Raises KeyNotFound."""
    key = ApiKey.objects.filter(project=by.project, public_id=findable(key_id)).first()
    if key is None:
        raise KeyNotFound(key_id)
    return key
