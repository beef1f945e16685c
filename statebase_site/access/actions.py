"""Every write of access: projects, members, keys, sign-in links.

Keys belong in the audit trail: they are called through `sessions_app.actions`, which writes the traces.
"""

import secrets
import string
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from statebase_site.access import authentication
from statebase_site.access import scopes as _scopes
from statebase_site.access.actor import Actor
from statebase_site.access.errors import (
    AlreadyExists,
    KeyNotFound,
    KeyRevokedAlready,
    LastAdmin,
    MemberNotFound,
    SignInLinkSpent,
)
from statebase_site.access.models import ApiKey, Membership, Project, Role, SignInToken
from statebase_site.access.rates import RATE_LIMIT_MOST
from statebase_site.base import clock, json
from statebase_site.base.errors import InvalidInput, PermissionRefused
from statebase_site.base.ids import new_id

NAME_MOST = 80
"""Characters of the name of a project or key."""
SIGN_IN_LINK_LIFETIME = timedelta(minutes=10)

_KEY_CHARACTERS = string.ascii_letters + string.digits
_KEY_LENGTH = 24
_LEGIBLE = "abcdefghjkmnpqrstuvwxyz23456789"
_PREFIX_LENGTH = 8


def create_project(*, name: str, is_demo: bool = False) -> Project:
    """Make a project; its slug comes from its name. Raises AlreadyExists where the name is taken."""
    name = _checked_name(name)
    slug = slugify(name)[:NAME_MOST] or new_id("project").replace("_", "-")
    try:
        with transaction.atomic():
            return Project.objects.create(name=name, slug=slug, is_demo=is_demo, created_at=clock.now())
    except IntegrityError as taken:
        raise AlreadyExists(
            f"There is a project {slug!r} already; choose another name.", param="name"
        ) from taken


def create_user(*, username: str, password: str | None) -> User:
    """Make a person who can sign in; without a password, by link only.

    Raises AlreadyExists, and InvalidInput with the reasons.
    """
    user = get_user_model()(username=username)
    try:
        user.clean_fields(exclude=["password"])
        if password is not None:
            validate_password(password, user)
    except ValidationError as faults:
        raise InvalidInput(" ".join(faults.messages)) from faults
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as taken:
        raise AlreadyExists(f"There is a user {username!r} already.", param="username") from taken
    return user


def create_member(*, project: Project, username: str, password: str, role: str) -> Membership:
    """Make a person and give them a role, or neither. Raises as `create_user` and `set_role` do."""
    with transaction.atomic():
        return set_role(project=project, user=create_user(username=username, password=password), role=role)


def set_role(*, project: Project, user: User, role: str) -> Membership:
    """Make `user` a member of `project`, or change the role of a member.

    Raises InvalidInput for an unknown role, LastAdmin where nobody else would be admin.
    """
    if role not in Role.values:
        raise InvalidInput(f"There is no role {role!r}; roles are {', '.join(Role.values)}.", param="role")
    with transaction.atomic():
        if role != Role.ADMIN:
            _keep_an_admin(project, without=user)
        return Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})[0]


def add_member(*, username: str, role: str, by: Actor) -> tuple[Membership, str | None]:
    """Give a person a role in the actor's project; returns it with their password, if they get one.

    Somebody new does, and also who never signed in and belongs to no project: a first password may get lost,
    and is stored nowhere in clear. Raises AlreadyExists for a member, and as `create_user` and `set_role` do.
    """
    _require_admin(by)
    password = None
    with transaction.atomic():
        user = get_user_model().objects.filter(username=username).first()
        if user is None:
            password = _first_password()
            user = create_user(username=username, password=password)
        elif Membership.objects.filter(project=by.project, user=user).exists():
            raise AlreadyExists(
                f"{username} is a member already; the role is changed in the list.", param="username"
            )
        elif user.last_login is None and not Membership.objects.filter(user=user).exists():
            password = _first_password()
            user.set_password(password)
            user.save(update_fields=["password"])
        return set_role(project=by.project, user=user, role=role), password


def change_role(*, member: Membership, role: str, by: Actor) -> Membership:
    """Give a member of the actor's project another role. Raises MemberNotFound, LastAdmin, InvalidInput."""
    _require_admin(by)
    _require_own(member, by)
    return set_role(project=by.project, user=member.user, role=role)


def remove_member(*, member: Membership, by: Actor) -> None:
    """End a membership; the person keeps their sign-in. Raises MemberNotFound, LastAdmin."""
    _require_admin(by)
    with transaction.atomic():
        _require_own(member, by)
        _keep_an_admin(by.project, without=member.user)
        Membership.objects.filter(pk=member.pk).delete()


def _require_admin(by: Actor) -> None:
    by.require(_scopes.FULL, to="manage members")


def _require_own(member: Membership, by: Actor) -> None:
    if not Membership.objects.filter(pk=member.pk, project=by.project).exists():
        raise MemberNotFound(member.pk)


def _keep_an_admin(project: Project, *, without: User) -> None:
    """Raise LastAdmin where `without` is the only admin; of two admins who lower each other, one stays."""
    admins = Membership.objects.select_for_update().filter(project=project, role=Role.ADMIN).order_by("pk")
    if {each.user_id for each in admins} == {without.pk}:
        raise LastAdmin


def _first_password() -> str:
    """Random, and easy to read out: four groups of five."""
    return "-".join("".join(secrets.choice(_LEGIBLE) for _ in range(5)) for _ in range(4))


def create_key(
    *,
    name: str,
    scopes: Iterable[str] = (_scopes.FULL,),
    rate_limit: int = 0,
    expires_at: datetime | None = None,
    owner_id: str | None = None,
    by: Actor,
) -> tuple[ApiKey, str]:
    """Make a key of the actor's project; returns it with the clear key, which is stored nowhere.

    `rate_limit` is in requests a minute, 0 = none. Raises InvalidInput for a bad name, an unknown scope, a
    limit out of range or an expiry that has passed, PermissionRefused for a scope that the actor lacks
    (contract 6.8).
    """
    by.require(_scopes.KEYS_MANAGE, to="make API keys")
    name = _checked_name(name)
    granted = _checked_scopes(scopes, by)
    if not 0 <= rate_limit <= RATE_LIMIT_MOST:
        raise InvalidInput(
            f"A rate limit is 0 (none) to {RATE_LIMIT_MOST:,} requests a minute.", param="rate_limit"
        )
    now = clock.now()
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("The key would have expired already.", param="expires_at")
    clear_key = "sb_" + "".join(secrets.choice(_KEY_CHARACTERS) for _ in range(_KEY_LENGTH))
    key = ApiKey.objects.create(
        project=by.project,
        name=name,
        owner_id=owner_id,
        prefix=clear_key[:_PREFIX_LENGTH],
        key_hash=authentication.hash_of(clear_key),
        scopes_text=json.dumps([*granted]),
        rate_limit=rate_limit,
        created_at=now,
        created_by=by.label,
        expires_at=expires_at,
    )
    return key, clear_key


def revoke_key(*, key: ApiKey, by: Actor) -> ApiKey:
    """End a key for good. Raises KeyNotFound for another project's, KeyRevokedAlready the second time."""
    by.require(_scopes.KEYS_MANAGE, to="revoke API keys")
    if key.project_id != by.project.pk:
        raise KeyNotFound(key.public_id)
    now = clock.now()
    if not ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now):
        raise KeyRevokedAlready(key.name)
    # Not before it is committed: a request in between would remember the key as it still was.
    transaction.on_commit(lambda: authentication.forget(key.key_hash))
    key.revoked_at = now
    return key


def create_sign_in_token(user: User, *, lifetime: timedelta = SIGN_IN_LINK_LIFETIME) -> str:
    """The clear token of a link that signs `user` in once, within `lifetime`."""
    token = secrets.token_urlsafe(32)
    now = clock.now()
    SignInToken.objects.filter(expires_at__lte=now).delete()
    SignInToken.objects.create(
        user=user, token_hash=authentication.hash_of(token), created_at=now, expires_at=now + lifetime
    )
    return token


def use_sign_in_token(token: str) -> User:
    """The person whom the link signs in; of two who use it at once, one. Raises SignInLinkSpent."""
    now = clock.now()
    known = SignInToken.objects.filter(
        token_hash=authentication.hash_of(token), expires_at__gt=now, user__is_active=True
    )
    found = known.select_related("user").first()
    # By columns of its own row only: PostgreSQL looks at those again once a faster request has let go of it,
    # and at nothing that was joined.
    if found is None or not SignInToken.objects.filter(pk=found.pk, used_at=None).update(used_at=now):
        raise SignInLinkSpent
    return found.user


def _checked_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= NAME_MOST or "\x00" in name:
        raise InvalidInput(f"A name has 1 to {NAME_MOST} characters.", param="name")
    return name


def _checked_scopes(asked: Iterable[str], by: Actor) -> list[str]:
    """The scopes in their usual order, once each; `*` covers all others."""
    wanted = set(asked)
    if not wanted:
        raise InvalidInput("A key needs at least one scope.", param="scopes")
    if unknown := sorted(wanted - set(_scopes.EVERY_SCOPE)):
        raise InvalidInput(
            f"There is no scope {unknown[0]!r}.",
            param="scopes",
            suggestion=f"Scopes are {', '.join(_scopes.EVERY_SCOPE)}.",
        )
    if _scopes.FULL in wanted:
        wanted = {_scopes.FULL}
    for scope in sorted(wanted):
        if not by.may(scope):
            raise PermissionRefused(
                f"You can't give a key the scope {scope}, which you lack yourself.", required_scope=scope
            )
    return [scope for scope in _scopes.EVERY_SCOPE if scope in wanted]
