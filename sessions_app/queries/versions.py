"""Versions and the states behind them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import reduce
from operator import or_
from typing import TypeAlias

from django.db.models import Q, QuerySet

from sessions_app import codec, control_keys
from sessions_app.errors import VersionNotFound
from sessions_app.models import AgentSession, StateVersion
from sessions_app.store import Document
from statebase_site.base import json

# Bodies read at once: few queries, and little to hold in memory even where each is 2 MiB.
_BATCH = 32
# The databases refuse to look for a greater one.
_NO_NUMBER = 2**31

Place: TypeAlias = tuple[int, int]
"""Where a version is: its session's key, and its number."""


def absolute_version(agent_session: AgentSession, requested: int) -> int:
    """The number that `requested` names; `-n` is n before the current one (contract 7.2).

    Raises `VersionNotFound`, naming the range there is.
    """
    number = agent_session.head_version + requested if requested < 0 else requested
    if not 0 <= number <= agent_session.head_version:
        raise VersionNotFound(agent_session.public_id, requested, agent_session.head_version)
    return number


def versions_of(agent_session: AgentSession) -> QuerySet[StateVersion]:
    """The rows of a session's versions without their bodies, oldest first: all that a list needs."""
    return StateVersion.objects.filter(agent_session=agent_session).defer("body").order_by("number")


def version_row(agent_session: AgentSession, number: int) -> StateVersion:
    """One version's row, without its body. Raises `VersionNotFound`."""
    try:
        return versions_of(agent_session).get(number=number)
    except StateVersion.DoesNotExist:
        raise VersionNotFound(agent_session.public_id, number, agent_session.head_version) from None


def document_at(agent_session: AgentSession, number: int) -> Document:
    """The state of one version: at most two rows are read. Raises `VersionNotFound`."""
    return Document.stored(text_at(agent_session, number))


def text_at(agent_session: AgentSession, number: int) -> bytes:
    """The text of one version's state. Raises `VersionNotFound`."""
    for _, text in texts_at(agent_session, [number]):
        return text
    raise VersionNotFound(agent_session.public_id, number, agent_session.head_version)


def documents_at(agent_session: AgentSession, numbers: Iterable[int]) -> Iterator[tuple[int, Document]]:
    """The states of some versions, as `texts_at` gives their texts."""
    for number, text in texts_at(agent_session, numbers):
        yield number, Document.stored(text)


def documents_of(*versions: tuple[AgentSession, int]) -> list[Document]:
    """The states of some versions of any sessions, in this order, read together: all of them must exist."""
    texts = dict(texts_of((agent_session.pk, number) for agent_session, number in versions))
    return [Document.stored(texts[agent_session.pk, number]) for agent_session, number in versions]


def texts_at(agent_session: AgentSession, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """The texts of some versions' states, in the order of their numbers, decoded one after the other.

    Numbers that do not exist are passed over. Bodies come in batches, so that a caller may stop early.
    """
    places = [(agent_session.pk, number) for number in numbers if 0 <= number < _NO_NUMBER]
    for (_, number), text in texts_of(places):
        yield number, text


def texts_of(places: Iterable[Place]) -> Iterator[tuple[Place, bytes]]:
    """The same for versions of any sessions, each named by its place."""
    wanted = sorted(set(places))
    keyframe, keyframe_text = (0, 0), b""
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        rows = _bodies(batch)
        leaning = {(session_pk, row.keyframe) for (session_pk, _), row in rows.items()}
        keyframes = rows | _bodies(leaning - rows.keys() - {keyframe})
        for place in batch:
            row = rows.get(place)
            if row is None:
                continue
            if keyframe != (place[0], row.keyframe):
                keyframe = place[0], row.keyframe
                keyframe_text = codec.decode(codec.Encoding.KEYFRAME, bytes(keyframes[keyframe].body), None)
            if row.is_keyframe:
                yield place, keyframe_text
            else:
                yield place, codec.decode(row.encoding, bytes(row.body), keyframe_text)


def among(places: Collection[Place]) -> Q:
    """The condition for the rows of some versions: at least one."""
    numbers: dict[int, list[int]] = {}
    for session_pk, number in places:
        numbers.setdefault(session_pk, []).append(number)
    return reduce(or_, (Q(agent_session=pk, number__in=wanted) for pk, wanted in numbers.items()))


def _bodies(places: Collection[Place]) -> dict[Place, StateVersion]:
    if not places:
        return {}
    rows = StateVersion.objects.filter(among(places)).only(
        "agent_session_id", "number", "encoding", "keyframe", "body"
    )
    return {(row.agent_session_id, row.number): row for row in rows}


def current_texts(sessions: Iterable[AgentSession]) -> dict[int, bytes]:
    """The texts of the current states of some sessions, by the session's key."""
    heads = [(each.pk, each.head_version) for each in sessions]
    return {session_pk: text for (session_pk, _), text in texts_of(heads)}


def same_data(agent_session: AgentSession, one: int, other: int) -> bool:
    """Whether two versions have the same state, control keys aside; compared typed, in any key order."""
    if one == other:
        return True
    left, right = documents_of((agent_session, one), (agent_session, other))
    return json.same(control_keys.data(left.value), control_keys.data(right.value))


def fitting(versions: list[StateVersion], most_bytes: int) -> list[StateVersion]:
    """The first of `versions` whose states have at most `most_bytes` together; at least one."""
    total = 0
    for count, version in enumerate(versions):
        total += version.text_bytes
        if total > most_bytes and count:
            return versions[:count]
    return versions
