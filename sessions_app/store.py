"""The write path: append versions, turns and traces to a session whose row is locked.

Two implementations behind the same functions: Django's ORM, used on SQLite, and SQL, used on PostgreSQL,
where it takes three round trips (lock; read; one statement that writes everything). The tests run both on
PostgreSQL and compare the rows.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from hashlib import sha256
from itertools import count, groupby, islice
from typing import cast

import psycopg
from django.conf import settings
from django.db import connection, models, transaction

from sessions_app import chain, codec, control_keys
from sessions_app.diff import changes
from sessions_app.enums import TraceSource, VersionKind
from sessions_app.errors import StateTooLarge
from sessions_app.happenings import happenings
from sessions_app.models import AgentSession, StateVersion, Trace, Turn
from sessions_app.models.trace import new_trace_id
from statebase_site.access.actor import Actor
from statebase_site.base import clock, json
from statebase_site.base.ids import findable
from statebase_site.webhooks import outbox
from statebase_site.webhooks.models import Delivery, Webhook
from statebase_site.webhooks.outbox import somebody_listens

# SQLite lets one writer in at a time, and its busy handler starves the others: in one process they queue.
_sqlite_writers = threading.RLock()

# Columns of a session that a write may change; always written together, so that it is one prepared statement.
_HEAD_COLUMNS = (
    "updated_at",
    "expires_at",
    "head_version",
    "head_keyframe",
    "turn_count",
    "rollback_count",
    "frozen_at",
    "frozen_version",
    "frozen_by",
    "open_holds",
    "life_stopped_at",
    "chain_length",
    "chain_hash",
)


@contextmanager
def write_transaction() -> Iterator[None]:
    """One transaction that writes; on SQLite it starts IMMEDIATE (settings) and waits for its turn."""
    if connection.vendor == "sqlite":
        with _sqlite_writers, transaction.atomic():
            yield
    else:
        with transaction.atomic():
            yield


@dataclass(frozen=True, slots=True)
class TraceDraft:
    """A trace to write: what was done to what, in ids and numbers."""

    action: str
    resource_type: str
    resource_id: str
    details: json.JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A state: its stored text (compact UTF-8 JSON) and its value."""

    text: bytes
    value: json.JsonObject

    @classmethod
    def of(cls, value: json.JsonObject) -> Document:
        """The state of this value, as it will be stored."""
        return cls(json.dumps(value).encode(), value)

    @classmethod
    def stored(cls, text: bytes) -> Document:
        """The state whose stored text this is."""
        return cls(text, cast(json.JsonObject, json.parse_stored(text)))


@dataclass(frozen=True, slots=True)
class Head:
    """The current version as the write path needs it; `keyframe_text` is what the next body can lean on."""

    document: Document
    keyframe_text: bytes
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class VersionDraft:
    """A version to append; its traces follow, the first of which made it.

    `limited` is False where nothing in it is new: no freeze, rollback or fork fails because of a size.
    """

    document: Document
    kind: VersionKind
    reasoning: str | None
    restored_from: int | None = None
    turn_id: str | None = None
    limited: bool = True


# Reading under the lock -------------------------------------------------------------------------------

_SESSION_FIELDS = [each.attname for each in AgentSession._meta.concrete_fields]
_SESSION_COLUMNS = ", ".join(f's."{each.column}"' for each in AgentSession._meta.concrete_fields)
_WEBHOOKS = f'"{Webhook._meta.db_table}"'


def lock(project_pk: int, public_id: str) -> AgentSession | None:
    """Lock a session's row until the transaction ends and read it afresh; None where there is none.

    The lock is a statement of its own: joined to a read, the read would come from the snapshot before it.
    It lets pass who only refers to the session, so that a client's note waits for no writer, and looks in
    passing whether a webhook listens.
    """
    public_id = findable(public_id)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {_SESSION_COLUMNS}, EXISTS(SELECT 1 FROM {_WEBHOOKS} w "  # noqa: S608
                "WHERE w.project_id = s.project_id AND w.is_active AND w.deleted_at IS NULL) "
                f'FROM "{AgentSession._meta.db_table}" s '
                "WHERE public_id = %s AND project_id = %s FOR NO KEY UPDATE",
                [public_id, project_pk],
            )
            row = cursor.fetchone()
        if row is None:
            return None
        locked = AgentSession.from_db("default", _SESSION_FIELDS, row[:-1])
        locked.is_listened_to = row[-1]
        return locked
    found = AgentSession.objects.filter(public_id=public_id, project_id=project_pk)
    with_ear = found.annotate(is_listened_to=somebody_listens("project"))  # type: ignore[no-redef]
    return with_ear.select_for_update(no_key=True).first()


def keep(agent_session: AgentSession) -> bool:
    """Let the session not be removed until the transaction ends; False where it is gone by now.

    It waits for nobody who writes to the session, only for who removes it (PostgreSQL: KEY SHARE).
    """
    if connection.vendor != "postgresql":
        return True  # nobody else writes at this moment
    with connection.cursor() as cursor:
        cursor.execute(
            f'SELECT 1 FROM "{AgentSession._meta.db_table}" WHERE id = %s FOR KEY SHARE',  # noqa: S608
            [agent_session.pk],
        )
        return cursor.fetchone() is not None


def _bodies(session_pk: int, numbers: Sequence[int]) -> dict[int, tuple[int, bytes, int]]:
    """`encoding`, `body`, `stored_bytes` of some versions, by number."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                f'SELECT number, encoding, body, stored_bytes FROM "{StateVersion._meta.db_table}" '  # noqa: S608
                "WHERE agent_session_id = %s AND number = ANY(%s)",
                [session_pk, list(numbers)],
            )
            rows = cursor.fetchall()
    else:
        rows = StateVersion.objects.filter(agent_session_id=session_pk, number__in=numbers).values_list(
            "number", "encoding", "body", "stored_bytes"
        )
    return {number: (encoding, bytes(body), stored) for number, encoding, body, stored in rows}


def head(agent_session: AgentSession) -> Head:
    """The current version of a locked session, and the keyframe it leans on."""
    number, keyframe = agent_session.head_version, agent_session.head_keyframe
    bodies = _bodies(agent_session.pk, [number, keyframe])
    encoding, body, _ = bodies[keyframe]
    keyframe_text = codec.decode(encoding, body, None)
    encoding, body, stored_bytes = bodies[number]
    text = keyframe_text if number == keyframe else codec.decode(encoding, body, keyframe_text)
    return Head(Document.stored(text), keyframe_text, stored_bytes)


# Writing ----------------------------------------------------------------------------------------------


class Append:
    """What one action appends to one locked session: collected first, then written at once."""

    def __init__(self, agent_session: AgentSession, by: Actor) -> None:
        self.agent_session = agent_session
        self.by = by
        # One moment for all of it: that of a new session's beginning, or now, but never before what is there
        # already, even when the clock was set back.
        is_new = agent_session._state.adding
        self.moment: datetime = (
            agent_session.updated_at if is_new else max(clock.now(), agent_session.updated_at)
        )
        self.version: StateVersion | None = None
        self._document: Document | None = None
        self.turn: Turn | None = None
        self.traces: list[Trace] = []

    def add_version(self, draft: VersionDraft, *, previous: Head | None, trace_id: str) -> StateVersion:
        """Prepare the next version; `previous` is None for version 0. Raises `StateTooLarge`."""
        text = draft.document.text
        if draft.limited and len(text) > settings.MAX_STATE_BYTES:
            raise StateTooLarge(len(text), settings.MAX_STATE_BYTES)
        session = self.agent_session
        number = session.head_version + 1 if previous else 0
        if previous is None or codec.wants_keyframe(
            number,
            keyframe_number=session.head_keyframe,
            previous_stored=previous.stored_bytes if session.head_version != session.head_keyframe else 0,
            previous_text=len(previous.document.text),
        ):
            keyframe, keyframe_text = number, None
        else:
            keyframe, keyframe_text = session.head_keyframe, previous.keyframe_text
        encoding, body = codec.encode(text, keyframe_text)
        difference = changes(previous.document.value if previous else {}, draft.document.value)
        self.version = StateVersion(
            agent_session=session,
            number=number,
            kind=draft.kind,
            encoding=encoding,
            keyframe=keyframe,
            body=body,
            text_bytes=len(text),
            stored_bytes=len(body),
            sha256=sha256(text).digest(),
            changes_text=difference.to_text(),
            added=difference.added,
            removed=difference.removed,
            changed=difference.changed,
            first_paths_text=json.dumps(list(difference.first_paths)),
            reasoning=draft.reasoning,
            frozen=control_keys.is_frozen(draft.document.value),
            restored_from=draft.restored_from,
            turn_id=draft.turn_id,
            actor_kind=self.by.kind,
            actor_label=self.by.label,
            trace_id=trace_id,
            created_at=self.moment,
        )
        self._document = draft.document
        session.head_version = number
        session.head_keyframe = keyframe
        session.updated_at = self.moment
        session.rollback_count += draft.kind == VersionKind.ROLLBACK
        return self.version

    def add_turn(self, turn: Turn) -> Turn:
        """Prepare the next turn, already filled in but for number, actor and time."""
        session = self.agent_session
        session.turn_count += 1
        session.updated_at = self.moment
        turn.agent_session = session
        turn.number = session.turn_count
        turn.actor_kind = self.by.kind
        turn.actor_label = self.by.label
        turn.created_at = self.moment
        self.turn = turn
        return turn

    def add_trace(
        self, draft: TraceDraft, *, trace_id: str | None = None, subject: bytes | None = None
    ) -> Trace:
        """Prepare the next link of the session's chain; `subject` is the hash of what the action made."""
        session = self.agent_session
        trace = _trace(draft, self.by, self.moment, trace_id=trace_id)
        trace.agent_session = session
        trace.session_public_id = session.public_id
        trace.user_id = session.user_id
        trace.subject_sha256 = subject
        session.chain_length += 1
        trace.position = session.chain_length
        trace.hash = session.chain_hash = chain.trace_hash(trace, bytes(session.chain_hash))
        self.traces.append(trace)
        return trace

    def write(self) -> None:
        """Write all of it and the session's head, and what webhooks have to hear of it."""
        if connection.vendor == "postgresql":
            _write_sql(self)
        else:
            _write_orm(self)

    @property
    def rows(self) -> list[models.Model]:
        """All that is to be written beside the head."""
        rows = [row for row in (self.version, self.turn, *self.traces) if row is not None]
        return [*rows, *self._deliveries()]

    def _deliveries(self) -> list[Delivery]:
        if self.agent_session.is_listened_to is False:
            return []
        webhooks = outbox.listening(self.by.project.pk)
        if not webhooks:
            return []
        told = happenings(self.traces, self.agent_session, version=self.version, turn=self.turn)
        return outbox.deliveries(told, webhooks, self.moment)

    @property
    def document(self) -> Document:
        """The state of the version that is prepared here."""
        assert self._document is not None
        return self._document

    def head_after(self, previous: Head) -> Head:
        """The current version once this is written; `previous` is the one before."""
        version = self.version
        if version is None:
            return previous
        keyframe_text = self.document.text if version.keyframe == version.number else previous.keyframe_text
        return Head(self.document, keyframe_text, version.stored_bytes)

    def write_new(self) -> None:
        """The same for a session that is not in the database yet."""
        session = self.agent_session
        session.save(force_insert=True)
        for row in (self.version, *self.traces):
            if row is not None:
                row.agent_session_id = session.pk
        if self.version:
            self.version.save()
        Trace.objects.bulk_create(self.traces)
        Delivery.objects.bulk_create(self._deliveries())


def _trace(draft: TraceDraft, by: Actor, moment: datetime, *, trace_id: str | None = None) -> Trace:
    return Trace(
        public_id=trace_id or new_trace_id(),
        project=by.project,
        action=draft.action,
        source=TraceSource.SYSTEM,
        actor_kind=by.kind,
        actor_label=by.label,
        actor_id=by.id,
        resource_type=draft.resource_type,
        resource_id=draft.resource_id,
        details_text=json.dumps(draft.details),
        request_id=by.request.request_id,
        latency_ms=by.request.latency_ms(),
        ip_address=by.request.ip_address,
        created_at=moment,
    )


def append_project_trace(
    draft: TraceDraft, by: Actor, *, session_public_id: str | None = None, user_id: str | None = None
) -> Trace:
    """Write a trace of no stored session: of a key, of a free memory, or a purged session's tombstone."""
    trace = _trace(draft, by, clock.now())
    trace.session_public_id = session_public_id
    trace.user_id = user_id
    trace.hash = chain.trace_hash(trace, b"")
    trace.save()
    outbox.announce(by.project.pk, happenings([trace]), trace.created_at)
    return trace


def append_client_trace(trace: Trace, *, announced: bool = True) -> Trace:
    """Write a client's own note; outside the chain, so that it never waits for writers (domain rule 7)."""
    trace.hash = chain.trace_hash(trace, b"")
    trace.save()
    if announced:
        outbox.announce(trace.project_id, happenings([trace]), trace.created_at)
    return trace


def write_all(agent_session: AgentSession, appends: Sequence[Append]) -> None:
    """Write what several actions appended one after the other to a session that nobody else has seen yet.

    Few statements however many they are: for whole runs. Webhooks hear of none: what a record tells is past.
    """
    StateVersion.objects.bulk_create(each.version for each in appends if each.version)
    Turn.objects.bulk_create(each.turn for each in appends if each.turn)
    Trace.objects.bulk_create(trace for each in appends for trace in each.traces)
    agent_session.save(update_fields=_HEAD_COLUMNS)


def _write_orm(append: Append) -> None:
    for model, rows in groupby(append.rows, lambda row: row._meta.model):
        model._base_manager.bulk_create(list(rows))
    append.agent_session.save(update_fields=_HEAD_COLUMNS)


@cache
def _written_fields(model: type[models.Model]) -> tuple[models.Field, ...]:
    """All columns but one that is the database's to fill."""
    return tuple(each for each in model._meta.concrete_fields if not isinstance(each, models.AutoField))


@cache
def _statement(*made: type[models.Model]) -> str:
    """One statement that inserts a row of each of `made` and updates the session."""
    places = (f"${number}" for number in count(1))
    inserts = []
    for model, rows in groupby(made):
        fields = _written_fields(model)
        columns = ", ".join(f'"{each.column}"' for each in fields)
        values = ", ".join(f"({', '.join(islice(places, len(fields)))})" for _ in rows)
        insert = f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES {values}'  # noqa: S608
        inserts.append(f"new_{model._meta.model_name} AS ({insert})")
    assignments = ", ".join(f'"{column}" = {next(places)}' for column in _HEAD_COLUMNS)
    table = AgentSession._meta.db_table
    return f'WITH {", ".join(inserts)} UPDATE "{table}" SET {assignments} WHERE id = {next(places)}'  # noqa: S608


def _write_sql(append: Append) -> None:
    """The same in one statement and one round trip.

    With the database's own placeholders: psycopg would translate its own anew each time, as they are so many.
    """
    session = append.agent_session
    rows = append.rows
    values = [getattr(row, each.attname) for row in rows for each in _written_fields(type(row))]
    values += [getattr(session, column) for column in _HEAD_COLUMNS]
    with connection.make_cursor(psycopg.RawCursor(connection.connection)) as cursor:  # type: ignore[arg-type]
        cursor.execute(_statement(*map(type, rows)), [*values, session.pk])
