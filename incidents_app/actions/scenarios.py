"""Failure-injection scenarios and their runs (contract 16).

A run forks the session before its divergence, injects the fault, and waits for an agent; what the fork's
state is afterwards decides whether it is red or green, not who reports it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from incidents_app import predicate as predicates
from incidents_app import queries
from incidents_app.actions._work import Work, locked_incident, require
from incidents_app.enums import EventKind, FaultKind, Outcome
from incidents_app.limits import check_line
from incidents_app.models import Scenario, ScenarioRun
from sessions_app import actions as sessions
from sessions_app import queries as session_queries
from sessions_app.actions import action, locked_session
from sessions_app.models import AgentSession
from statebase_site.access.actor import Actor
from statebase_site.access.idempotency import recall, remember
from statebase_site.access.scopes import INCIDENT_MANAGE, SESSIONS_WRITE
from statebase_site.base import json
from statebase_site.base.errors import Conflict, InvalidInput
from statebase_site.base.json import JsonObject

FAULT_BYTES = 64 * 1024


class OutcomeContradicted(Conflict):
    """The reported outcome is not what the state shows; extra `holds`."""

    code = "outcome_contradicted"


class RunWaiting(Conflict):
    """A run of the scenario waits already; extra `session_id`."""

    code = "run_waiting"


@dataclass(frozen=True, slots=True)
class ScenarioWritten:
    """A scenario after an action, and the run it was about."""

    scenario: Scenario
    run: ScenarioRun
    replayed: bool = False


def check_fault(fault: JsonObject) -> JsonObject:
    """A fault as contract 16 defines it. Raises `InvalidInput` naming the field at fault."""
    kind = fault.get("kind")
    if kind not in FaultKind.values:
        raise InvalidInput(f"fault.kind must be one of {', '.join(FaultKind.values)}.", param="fault.kind")
    if unknown := sorted(fault.keys() - {"kind", "tool", "patch", "value"}):
        raise InvalidInput(f"A fault has no field {unknown[0]!r}.", param=f"fault.{unknown[0]}")
    if kind == FaultKind.STATE_PATCH and not isinstance(fault.get("patch"), dict):
        raise InvalidInput(
            "A state_patch needs patch, the keys to merge into the state.", param="fault.patch"
        )
    tool = fault.get("tool")
    if kind in (FaultKind.TOOL_ERROR, FaultKind.TOOL_EMPTY, FaultKind.TOOL_GARBAGE) and not tool:
        raise InvalidInput(f"A {kind} needs tool, the name of the tool.", param="fault.tool")
    if tool is not None and not isinstance(tool, str):
        raise InvalidInput("fault.tool must be a text.", param="fault.tool")
    if len(json.dumps(fault).encode(errors="replace")) > FAULT_BYTES:
        raise InvalidInput(f"A fault has at most {FAULT_BYTES:,} bytes.", param="fault")
    return fault


@action
def create_scenario(
    *,
    reference: str,
    name: str,
    session_id: str,
    fork_version: int,
    fault: JsonObject,
    predicate: str,
    by: Actor,
) -> ScenarioWritten:
    """Make a scenario, and its first run, which waits for an agent.

    `fork_version` has to lie before the session's divergence, where that is recorded. Raises `InvalidInput`,
    `VersionNotFound`, `SessionNotAffected`.
    """
    require(by, INCIDENT_MANAGE, to="make a scenario")
    name = check_line(name, "name")
    check_fault(fault)
    _check_predicate(predicate)
    row = queries.affected_by_session(queries.incident_for(by, reference), session_id)
    session = locked_session(session_id, by)
    work = Work(locked_incident(by, reference), by)
    if made := recall(by):
        return _again(made)
    work.refuse_if_ended()
    fork_at = session_queries.absolute_version(session, fork_version)
    if row.divergence_version is not None and fork_at >= row.divergence_version:
        raise InvalidInput(
            f"The fork has to lie before the divergence, v{row.divergence_version}.", param="fork_version"
        )
    bad = None if row.divergence_version is None else _state_text(session, row.divergence_version)
    scenario = Scenario.objects.create(
        project=by.project,
        incident=work.incident,
        name=name,
        session_id=session_id,
        agent_id=session.agent_id,
        fork_version=fork_at,
        fault_kind=str(fault["kind"]),
        fault_text=json.dumps(fault),
        predicate=predicate,
        good_state_text=_state_text(session, fork_at),
        bad_state_text=bad,
        created_at=work.moment,
        created_by=by.label,
    )
    run = _wait(work, scenario)
    work.tell(
        EventKind.SCENARIO,
        f"Scenario “{name}”: fork {session_id} at v{fork_at}, then “{predicate}” must hold.",
        session_id=session_id,
        # The kind alone: what it injects may be of a person, and a row of the timeline is never emptied.
        details={
            "scenario_id": scenario.public_id,
            "fault_kind": scenario.fault_kind,
            "predicate": predicate,
        },
    )
    work.finish()
    written = ScenarioWritten(scenario, run)
    remember(by, {"run": run.pk})
    return written


@action
def request_run(*, scenario_id: str, by: Actor) -> ScenarioWritten:
    """Make a fresh fork with the fault in it, for an agent to pick up. Raises `RunWaiting`."""
    require(by, SESSIONS_WRITE, to="ask for a run of a scenario")
    scenario = queries.scenario_for(by, scenario_id)
    locked_session(scenario.session_id, by)
    work = _work_on(scenario, by)
    if made := recall(by):
        return _again(made)
    waiting = scenario.runs.filter(outcome=None).first()
    if waiting:
        raise RunWaiting(
            f"A run of {scenario.name!r} waits already, on {waiting.session_id}.",
            suggestion="Run the agent on that session and report how it ended.",
            session_id=waiting.session_id,
        )
    run = _wait(work, scenario)
    work.tell(
        EventKind.SCENARIO_RUN,
        f"Asked for a run of “{scenario.name}” on {run.session_id}.",
        details={"scenario_id": scenario_id, "session_id": run.session_id},
    )
    work.finish()
    remember(by, {"run": run.pk})
    return ScenarioWritten(scenario, run)


@action
def report_run(
    *, scenario_id: str, session_id: str, agent_version: str, outcome: str | None = None, by: Actor
) -> ScenarioWritten:
    """Judge a run by the state that its session has now, and keep red or green with the agent's version.

    The session is the waiting run's, or any other fork of the scenario's session from its version. Reporting
    the same session again gives the first verdict. Raises `OutcomeContradicted` where `outcome` is given and
    the predicate says otherwise, `InvalidInput` for a session that is no such fork.
    """
    require(by, SESSIONS_WRITE, to="report a run of a scenario")
    agent_version = check_line(agent_version, "agent_version", most=255)
    if outcome is not None and outcome not in Outcome.values:
        raise InvalidInput("outcome must be red or green.", param="outcome")
    scenario = queries.scenario_for(by, scenario_id)
    session = session_queries.session_for(by, session_id)
    if (session.forked_from, session.forked_version) != (scenario.session_id, scenario.fork_version):
        raise InvalidInput(
            f"{session_id} is no fork of {scenario.session_id} at v{scenario.fork_version}.",
            param="session_id",
            suggestion="Run the agent on the session that the waiting run names.",
        )
    session = locked_session(session_id, by)
    work = _work_on(scenario, by)
    if made := recall(by):
        return _again(made)
    known = scenario.runs.filter(session_id=session_id).first()
    if known and known.outcome:
        return ScenarioWritten(scenario, known, replayed=True)
    state = session_queries.document_at(session, session.head_version).value
    verdict = Outcome.GREEN if predicates.holds(scenario.predicate, state) else Outcome.RED
    if outcome is not None and outcome != verdict:
        raise OutcomeContradicted(
            f"“{scenario.predicate}” {'holds' if verdict == Outcome.GREEN else 'does not hold'} in v"
            f"{session.head_version} of {session_id}: this run is {verdict}, not {outcome}.",
            param="outcome",
            suggestion="Report the outcome that the state shows, or leave it out.",
            holds=verdict == Outcome.GREEN,
        )
    run = known or ScenarioRun(
        scenario=scenario, session_id=session_id, requested_at=work.moment, requested_by=by.label
    )
    run.agent_version, run.outcome, run.judged_version = agent_version, verdict, session.head_version
    run.finished_at, run.reported_by = work.moment, by.label
    run.save()
    work.tell(
        EventKind.SCENARIO_RUN,
        f"“{scenario.name}” is {verdict} with {agent_version}.",
        session_id=None,
        details={
            "scenario_id": scenario_id,
            "session_id": session_id,
            "outcome": verdict,
            "agent_version": agent_version,
        },
    )
    work.finish()
    remember(by, {"run": run.pk})
    return ScenarioWritten(scenario, run)


def _work_on(scenario: Scenario, by: Actor) -> Work:
    """Runs go on after the incident: a scenario is a test that stays."""
    return Work(locked_incident(by, scenario.incident.reference), by)


def _wait(work: Work, scenario: Scenario) -> ScenarioRun:
    """Fork the session with the fault in it. What is no part of the state is for the agent's own harness."""
    made = sessions.fork(
        session_id=scenario.session_id, version=scenario.fork_version, by=work.acting
    ).agent_session
    fault = scenario.fault
    if fault["kind"] == FaultKind.STATE_PATCH:
        sessions.update_state(
            session_id=made.public_id,
            changes=fault["patch"],  # type: ignore[arg-type]
            reasoning=f"{work.reference}: fault injected for “{scenario.name}”",
            by=work.acting,
        )
    return ScenarioRun.objects.create(
        scenario=scenario,
        session_id=made.public_id,
        requested_at=work.moment,
        requested_by=work.by.label,
    )


def _check_predicate(expression: str) -> None:
    try:
        predicates.check(expression)
    except predicates.BadPredicate as fault:
        raise InvalidInput(str(fault), param="predicate") from fault
    if "\x00" in expression:
        raise InvalidInput("predicate holds the character U+0000.", param="predicate")


def _state_text(session: AgentSession, number: int) -> str:
    return session_queries.text_at(session, number).decode()


def _again(made: dict[str, Any]) -> ScenarioWritten:
    run = ScenarioRun.objects.select_related("scenario__incident").get(pk=made["run"])
    return ScenarioWritten(run.scenario, run, replayed=True)
