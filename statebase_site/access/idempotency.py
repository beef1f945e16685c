"""Answers kept under an `Idempotency-Key` for 24 hours: a request sent twice runs once (contract 4.2)."""

from datetime import timedelta
from typing import Any, cast

from django.db import connection

from statebase_site.access.actor import Actor
from statebase_site.access.models import IdempotentAnswer, Project
from statebase_site.base import clock, json
from statebase_site.base.errors import Conflict

KEPT_FOR = timedelta(hours=24)


class IdempotencyConflict(Conflict):
    """The key was used for another method, path or body."""

    code = "idempotency_conflict"

    def __init__(self) -> None:
        super().__init__(
            "This Idempotency-Key was used for another request.",
            param="Idempotency-Key",
            suggestion="Use a new key for a new request.",
        )


class IdempotencyRaced(Exception):
    """Another transaction carried out the same request meanwhile: roll back, then ask `recall` again."""


def recall(by: Actor) -> dict[str, Any] | None:
    """What the same request made before, or None where it is new or carries no key.

    Raises `IdempotencyConflict` where the key stands for another request.
    """
    idempotency = by.request.idempotency
    if idempotency is None:
        return None
    answer = IdempotentAnswer.objects.filter(
        owner=_owner(by), key=idempotency.key, created_at__gt=clock.now() - KEPT_FOR
    ).first()
    if answer is None:
        return None
    asked = (by.request.method, by.request.path, idempotency.body_sha256)
    if asked != (answer.method, answer.path, answer.body_sha256):
        raise IdempotencyConflict
    return cast("dict[str, Any]", json.parse_stored(answer.made))


def _owner(by: Actor) -> str:
    """A key is of one project; a person may ask the same in several."""
    return f"{by.id}@{by.project.pk}"


# One statement: takes the place of an answer that is out of date, leaves a current one as it is, and never
# fails in a way that would spoil the caller's transaction on PostgreSQL.
_REMEMBER = """
INSERT INTO access_idempotentanswer (owner, key, method, path, body_sha256, made, created_at)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (owner, key) DO UPDATE SET
    method = excluded.method, path = excluded.path, body_sha256 = excluded.body_sha256,
    made = excluded.made, created_at = excluded.created_at
WHERE access_idempotentanswer.created_at <= %s
"""


def remember(by: Actor, made: dict[str, Any]) -> None:
    """Keep `made` (JSON) as the answer of this request; call it in the transaction that made it.

    Does nothing where the request carries no key. Raises `IdempotencyRaced` where another transaction was
    faster.
    """
    idempotency = by.request.idempotency
    if idempotency is None:
        return
    now = clock.now()
    with connection.cursor() as cursor:
        cursor.execute(
            _REMEMBER,
            [
                _owner(by),
                idempotency.key,
                by.request.method,
                by.request.path,
                idempotency.body_sha256,
                json.dumps(made),
                connection.ops.adapt_datetimefield_value(now),
                connection.ops.adapt_datetimefield_value(now - KEPT_FOR),
            ],
        )
        if cursor.rowcount == 0:
            raise IdempotencyRaced


def forget_sessions(project: Project, session_ids: set[str]) -> None:
    """Delete the answers of a project that tell of these sessions: they hold what a session's head said."""
    answers = IdempotentAnswer.objects.filter(owner__endswith=f"@{project.pk}").values_list("pk", "made")
    told = []
    for pk, text in answers.iterator():
        made = cast("dict[str, Any]", json.parse_stored(text))
        if made.get("session") in session_ids:
            told.append(pk)
    IdempotentAnswer.objects.filter(pk__in=told).delete()


def forget_old() -> int:
    """Delete the answers that are over 24 hours old; returns how many there were."""
    return IdempotentAnswer.objects.filter(created_at__lte=clock.now() - KEPT_FOR).delete()[0]
