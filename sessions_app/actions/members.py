"""Who works in a project, with the traces that changes of it leave."""

from __future__ import annotations

from sessions_app import store
from sessions_app.actions._action import action
from sessions_app.enums import Action
from sessions_app.store import TraceDraft
from statebase_site.access import actions as access
from statebase_site.access.actor import Actor
from statebase_site.access.models import Membership
from statebase_site.base.json import JsonObject


@action
def add_member(*, username: str, role: str, by: Actor) -> tuple[Membership, str | None]:
    """Give a person a role in the actor's project; returns the password of one who never signed in.

    Raises as `access.actions.add_member` does.
    """
    member, password = access.add_member(username=username, role=role, by=by)
    _trace(Action.MEMBER_ADDED, member, by)
    return member, password


@action
def change_role(*, member: Membership, role: str, by: Actor) -> Membership:
    """Give a member another role. Raises as `access.actions.change_role` does."""
    before = member.role
    changed = access.change_role(member=member, role=role, by=by)
    if changed.role != before:
        _trace(Action.MEMBER_CHANGED, changed, by, previous_role=before)
    return changed


@action
def remove_member(*, member: Membership, by: Actor) -> None:
    """Take a person's role in the project away. Raises as `access.actions.remove_member` does."""
    access.remove_member(member=member, by=by)
    _trace(Action.MEMBER_REMOVED, member, by)


def _trace(name: Action, member: Membership, by: Actor, **more: str) -> None:
    details: JsonObject = {"username": member.user.get_username(), "role": member.role, **more}
    store.append_project_trace(TraceDraft(name, "member", f"user:{member.user_id}", details), by)
