"""Traces as Langfuse exports them: a trace and its observations, with JSON packed in text."""

from __future__ import annotations

from sessions_app.importers import states
from sessions_app.importers.run import RecordingFault, Run, name_from, unpacked
from sessions_app.importers.spans import GENERATION, OTHER, TOOL, Span, Telling
from sessions_app.importers.values import an_object, moment, objects, plain, required_object
from statebase_site.base.json import JsonObject, JsonValue

NAME = "langfuse"

_KINDS = {"GENERATION": GENERATION, "TOOL": TOOL}
_ABOUT = ("id", "name", "sessionId", "tags", "release", "version", "environment")
_HIDDEN = "DEBUG"


def recognises(document: JsonValue) -> bool:
    """Whether the document is a trace with observations."""
    trace, observations = _parts_of(document)
    return bool(trace) and any("startTime" in each and "type" in each for each in objects(observations))


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of a trace. Raises RecordingFault."""
    trace, listed = _parts_of(document)
    pointer = "/observations"
    if not isinstance(listed, list) or not listed:
        raise RecordingFault("The trace has no observations.", pointer)
    seen = [required_object(each, f"Observation {n}", f"{pointer}/{n}") for n, each in enumerate(listed)]
    spans = [_span(each) for each in seen]
    about = _unpacked_object(trace.get("metadata"))
    starts = moment(trace.get("timestamp")) or min(
        (each.starts for each in spans if each.starts), default=None
    )
    telling = Telling()
    telling.trace(trace.get("input"), trace.get("output"), spans, starts)
    telling.exchanges.end()
    initial_state, placed = states.placed(telling.exchanges.turns, telling.versions)
    attributes = an_object(about.get("attributes"))
    metadata: JsonObject = {key: trace[key] for key in _ABOUT if trace.get(key) not in (None, [], "")}
    scores = [
        {key: score.get(key) for key in ("name", "value", "comment", "source")}
        for score in objects(trace.get("scores"))
    ]
    return Run(
        agent_id=name_from(attributes.get("gen_ai.agent.name")) or name_from(trace.get("name")) or NAME,
        user_id=name_from(trace.get("userId")),
        metadata=metadata | ({"scores": [*scores]} if scores else {}) | {"metadata": about},
        initial_state=initial_state,
        steps=placed,
        started_at=starts,
    )


def _parts_of(document: JsonValue) -> tuple[JsonObject, JsonValue]:
    """The trace and its observations: beside it, where they are whole, or in it."""
    around = an_object(document)
    trace = an_object(around.get("trace")) if "trace" in around else around
    return trace, around.get("observations") or trace.get("observations")


def _span(observation: JsonObject) -> Span:
    about = _unpacked_object(observation.get("metadata"))
    attributes = an_object(about.get("attributes"))
    name = plain(observation.get("name")) or "unknown"
    # Of the spans inside a node, the one that has its name is the node's own.
    is_node = about.get("langgraph_node") == name and observation.get("level") != _HIDDEN
    kind = observation.get("type")
    shown: JsonObject = {"observation": observation.get("id")}
    if observation.get("level") == "ERROR":
        shown["error"] = observation.get("statusMessage")
    return Span(
        kind=_KINDS.get(kind, OTHER) if isinstance(kind, str) else OTHER,
        name=name,
        input=observation.get("input"),
        output=observation.get("output"),
        starts=moment(observation.get("startTime")),
        ends=moment(observation.get("endTime")),
        node=name if is_node else None,
        call_id=name_from(attributes.get("gen_ai.tool.call.id")),
        about=shown,
    )


def _unpacked_object(value: JsonValue) -> JsonObject:
    return an_object(unpacked(value) if isinstance(value, str) else value)
