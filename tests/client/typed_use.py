"""How a typed program sees the two clients; read by the type checker, never run."""

from typing import assert_type

from statebase_client.incident_results import Incident
from statebase_client.results import FoundMemory, RestoredState, Session, StateVersion, Trace, Turn

from statebase_client import AsyncPage, AsyncStateBase, Page, StateBase


def plain(sb: StateBase) -> None:
    """Results at once."""
    assert_type(sb.sessions.create("bot", initial_state={}), Session)
    assert_type(sb.sessions.rollback("sess", version=-3, reason="why"), RestoredState)
    assert_type(sb.sessions.list_versions("sess"), list[StateVersion])
    assert_type(sb.sessions.list_turns("sess", limit=5), Page[Turn])
    assert_type(sb.sessions.list_turns("sess")[0], Turn)
    assert_type(sb.sessions.get("sess").version, int)
    assert_type(sb.traces.list(action="state.updated").next_page(), Page[Trace] | None)
    assert_type(sb.memory.search("seats"), list[FoundMemory])
    assert_type(sb.incidents.create("Gone wrong", "S1").sessions[0].steps.freeze, str)
    for trace in sb.traces.list().iterate():
        assert_type(trace, Trace)
    sb.sessions.rollback("sess", version="3")  # type: ignore[arg-type]
    sb.sessions.rollback("sess", 3, reasons="typo")  # type: ignore[call-arg]


async def awaited(sb: AsyncStateBase) -> None:
    """The same calls, results to await."""
    assert_type(await sb.sessions.create("bot", initial_state={}), Session)
    assert_type(await sb.sessions.rollback("sess", version=-3, reason="why"), RestoredState)
    assert_type(await sb.sessions.list_versions("sess"), list[StateVersion])
    assert_type(await sb.sessions.list_turns("sess", limit=5), AsyncPage[Turn])
    assert_type(await (await sb.traces.list()).next_page(), AsyncPage[Trace] | None)
    assert_type(await sb.incidents.get("INCIDENT-1"), Incident)
    async for trace in (await sb.traces.list()).iterate():
        assert_type(trace, Trace)
    await sb.sessions.rollback("sess", version="3")  # type: ignore[arg-type]
