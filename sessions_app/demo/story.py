"""How the demo's sessions are told: through the actions, step by step, at times in the past."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from sessions_app import actions, queries
from sessions_app.actions.create import NEVER
from sessions_app.errors import SessionFrozen
from sessions_app.models import AgentSession
from statebase_site.access import scopes
from statebase_site.access.actor import Actor, ActorKind, RequestFacts
from statebase_site.access.models import Project
from statebase_site.base import clock, json
from statebase_site.base.json import JsonObject, JsonValue

# What an agent's key should have (contract section 9): it may freeze itself, and not resume.
_AGENT_SCOPES = frozenset(
    (scopes.SESSIONS_READ, scopes.SESSIONS_WRITE, scopes.MEMORY_READ, scopes.MEMORY_WRITE)
)

REVERSIBLE = "reversible"
COMPENSATABLE = "compensatable"
IRREVERSIBLE = "irreversible"


def agent(project: Project, prefix: str) -> Actor:
    """An agent that acted with a key of this prefix."""
    return Actor(project, ActorKind.KEY, prefix, f"key_demo{prefix[3:].lower()}", _AGENT_SCOPES)


def person(project: Project, name: str) -> Actor:
    """Somebody of the team."""
    return Actor(project, ActorKind.PERSON, f"user:{name}", f"user:{name}", frozenset((scopes.FULL,)))


def mark(slug: str) -> str:
    """Where a demo session says it comes from, so that it is loaded once."""
    return f"demo:{slug}"


def text(content: str) -> JsonObject:
    """What somebody said."""
    return {"type": "text", "content": content}


def tool_turn(
    name: str, arguments: JsonObject, output: JsonValue, *, effect: str, call_id: str
) -> tuple[JsonObject, JsonObject]:
    """Input and output of a tool call in the official SDK's shape, with what undoing it would take."""
    shown = output if isinstance(output, str) else json.dumps(output)
    return (
        {
            "type": "tool_call",
            "content": f"Call tool {name} with {json.dumps(arguments)}",
            "tool_metadata": {"name": name, "arguments": arguments, "id": call_id, "reversibility": effect},
        },
        {"type": "tool_response", "content": shown, "output": output},
    )


class Story:
    """One session. Each step happens `after` so many seconds, and knows the state as it stands."""

    def __init__(self, by: Actor, agent_session: AgentSession, state: JsonObject, moment: datetime) -> None:
        self.by = by
        self.session_id = agent_session.public_id
        self.states = [state]
        self.moment = moment
        self._steps = 0

    @classmethod
    def begin(
        cls,
        by: Actor,
        *,
        slug: str,
        agent_id: str,
        user_id: str,
        starts: datetime,
        state: JsonObject,
        metadata: JsonObject | None = None,
    ) -> Story:
        """A new session of the agent `by`."""
        with clock.at(starts):
            made = actions.create_session(
                agent_id=agent_id,
                user_id=user_id,
                initial_state=state,
                metadata=metadata,
                ttl_seconds=NEVER,
                imported_from=mark(slug),
                by=_asking(by, "POST", "/v1/sessions", {}, milliseconds=18),
            )
        return cls(by, made.agent_session, state, starts)

    @classmethod
    def of(cls, by: Actor, project: Project, slug: str) -> Story:
        """A story that was told before, and that others have gone on with meanwhile."""
        agent_session = AgentSession.objects.get(project=project, imported_from=mark(slug))
        every = range(agent_session.head_version + 1)
        story = cls(by, agent_session, {}, agent_session.updated_at)
        story.states = [each.value for _, each in queries.documents_at(agent_session, every)]
        story._steps = agent_session.turn_count
        return story

    @property
    def state(self) -> JsonObject:
        """The current state."""
        return self.states[-1]

    @property
    def version(self) -> int:
        """The current version."""
        return len(self.states) - 1

    def update(self, reasoning: str, *, after: float, by: Actor | None = None, **changes: JsonValue) -> None:
        """Merge into the state."""
        self._later(after)
        with clock.at(self.moment):
            actions.update_state(
                session_id=self.session_id,
                changes=changes,
                reasoning=reasoning,
                by=self._asking(by, "PATCH", f"{self._path}/state", {"state": changes}),
            )
        self.states.append({**self.state, **changes})

    def say(
        self,
        user: str,
        answer: str,
        *,
        after: float,
        reasoning: str | None = None,
        without: Iterable[str] = (),
        metadata: JsonObject | None = None,
        **changes: JsonValue,
    ) -> None:
        """One exchange; with `changes` or `without` (keys that go) it leaves a new state behind."""
        self._turn(text(user), text(answer), after, reasoning, metadata, changes, without)

    def call(
        self,
        tool: str,
        arguments: JsonObject,
        output: JsonValue,
        *,
        after: float,
        effect: str = REVERSIBLE,
        took_ms: int = 240,
        code: int = 200,
        reasoning: str | None = None,
        **changes: JsonValue,
    ) -> None:
        """One tool call that ended with `code`, and the `changes` to the state that came of it."""
        given, answer = tool_turn(
            tool, arguments, output, effect=effect, call_id=f"call_{self._steps:02d}_{tool[:12]}"
        )
        self._turn(given, answer, after, reasoning, {"duration_ms": took_ms, "status": code}, changes, ())

    def roll_back(self, to: int, reason: str, *, after: float, by: Actor | None = None) -> None:
        """Back to an earlier version."""
        self._later(after)
        with clock.at(self.moment):
            actions.rollback(
                session_id=self.session_id,
                version=to,
                reason=reason,
                by=self._asking(by, "POST", f"{self._path}/state/rollback", {"version": to}),
            )
        self.states.append(self.states[to])

    def freeze(self, reason: str, *, after: float, by: Actor) -> None:
        """Stop the session."""
        self.update(reason, after=after, by=by, incident=True, frozen=True)

    def resume(self, reason: str, *, after: float, by: Actor) -> None:
        """Let it go on."""
        self.update(reason, after=after, by=by, incident=False, frozen=False)

    def try_update(self, reasoning: str, *, after: float, **changes: JsonValue) -> None:
        """What the agent attempts while it is frozen: refused, and kept as evidence."""
        with contextlib.suppress(SessionFrozen):
            self._later(after)
            with clock.at(self.moment):
                actions.update_state(
                    session_id=self.session_id,
                    changes=changes,
                    reasoning=reasoning,
                    by=self._asking(
                        None, "PATCH", f"{self._path}/state", {"state": changes, "reasoning": reasoning}
                    ),
                )

    def try_call(self, tool: str, arguments: JsonObject, output: JsonValue, *, after: float) -> None:
        """The same for a tool call that it wants to log."""
        given, answer = tool_turn(tool, arguments, output, effect=IRREVERSIBLE, call_id=f"call_{tool[:12]}")
        with contextlib.suppress(SessionFrozen):
            self._later(after)
            with clock.at(self.moment):
                actions.add_turn(
                    session_id=self.session_id,
                    input=given,
                    output=answer,
                    by=self._asking(None, "POST", f"{self._path}/turns", {"input": given, "output": answer}),
                )

    def note(self, action: str, *, after: float, **details: JsonValue) -> None:
        """A trace that the agent writes itself."""
        self._later(after)
        with clock.at(self.moment):
            actions.create_trace(
                action=action,
                session_id=self.session_id,
                details=details,
                by=self._asking(None, "POST", "/v1/traces", {"action": action}),
            )

    def fork(self, version: int, *, after: float, by: Actor) -> Story:
        """A new story that goes on from `version`, told by the same agent."""
        self._later(after)
        with clock.at(self.moment):
            made = actions.fork(
                session_id=self.session_id,
                version=version,
                by=self._asking(by, "POST", f"{self._path}/fork", {"version": version}),
            )
        return Story(self.by, made.agent_session, self.states[version], self.moment)

    @property
    def _path(self) -> str:
        return f"/v1/sessions/{self.session_id}"

    def _turn(
        self,
        given: JsonObject,
        answer: JsonObject,
        after: float,
        reasoning: str | None,
        metadata: JsonObject | None,
        changes: JsonObject,
        without: Iterable[str],
    ) -> None:
        self._later(after)
        gone = set(without)
        state = {key: value for key, value in {**self.state, **changes}.items() if key not in gone}
        changed = bool(changes or gone)
        with clock.at(self.moment):
            actions.add_turn(
                session_id=self.session_id,
                input=given,
                output=answer,
                reasoning=reasoning,
                metadata=metadata,
                state_after=state if changed else None,
                by=self._asking(None, "POST", f"{self._path}/turns", {"input": given, "output": answer}),
            )
        if changed:
            self.states.append(state)

    def _later(self, seconds: float) -> None:
        self._steps += 1
        self.moment += timedelta(seconds=seconds, milliseconds=self._steps * 137 % 1000)

    def _asking(self, by: Actor | None, method: str, path: str, body: JsonObject) -> Actor:
        return _asking(by or self.by, method, path, body, milliseconds=6 + self._steps * 7 % 31)


def _asking(by: Actor, method: str, path: str, body: JsonObject, *, milliseconds: int) -> Actor:
    """The actor with a request as it might have been: its body is evidence where it is refused."""
    request = RequestFacts(
        started=time.perf_counter() - milliseconds / 1000,
        method=method,
        path=path,
        body=json.dumps(body).encode(),
        ip_address="10.20.4.17" if by.is_agent else "10.20.1.5",
    )
    return replace(by, request=request)
