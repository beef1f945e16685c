"""OpenTelemetry spans with the attributes of its GenAI conventions, in OTLP's JSON.

All traces of a document are one run, in the order in which they began: each is an exchange.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from sessions_app.importers import states
from sessions_app.importers.run import RecordingFault, Run, name_from
from sessions_app.importers.spans import GENERATION, OTHER, TOOL, Span, Telling
from sessions_app.importers.values import an_object, moment, objects, plain, required_list, required_object
from statebase_site.base.json import JsonObject, JsonValue

NAME = "opentelemetry-genai"

_KINDS = {
    "chat": GENERATION,
    "text_completion": GENERATION,
    "generate_content": GENERATION,
    "execute_tool": TOOL,
}
_ABOUT = ("gen_ai.conversation.id", "gen_ai.provider.name", "gen_ai.system", "gen_ai.request.model")
_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue")
_NANOSECONDS = 1_000_000_000
_NEVER = datetime.max.replace(tzinfo=UTC)


def recognises(document: JsonValue) -> bool:
    """Whether the document is an export of OpenTelemetry's traces."""
    return any("scopeSpans" in each for each in objects(an_object(document).get("resourceSpans")))


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of the traces. Raises RecordingFault."""
    traces: dict[str, list[tuple[Span, JsonObject, bool]]] = {}
    for raw, pointer in _spans_of(an_object(document)):
        trace_id = raw.get("traceId")
        if not isinstance(trace_id, str):
            raise RecordingFault("The span has no text `traceId`.", pointer)
        attributes = _attributes(raw)
        traces.setdefault(trace_id, []).append(
            (_span(raw, attributes), attributes, not raw.get("parentSpanId"))
        )
    ordered = sorted(traces.items(), key=lambda each: _begins(each[1]) or _NEVER)
    if not ordered:
        raise RecordingFault("The export has no spans.", "/resourceSpans")
    telling = Telling()
    for _, spans in ordered:
        root = next((span for span, _, is_root in spans if is_root), spans[0][0])
        telling.trace(root.input, root.output, [span for span, _, _ in spans], _begins(spans))
    telling.exchanges.end()
    initial_state, placed = states.placed(telling.exchanges.turns, telling.versions)
    every = [attributes for _, spans in ordered for _, attributes, _ in spans]

    def first(key: str) -> JsonValue:
        return next((each[key] for each in every if key in each), None)

    about: JsonObject = {key: value for key in _ABOUT if (value := first(key)) is not None}
    return Run(
        agent_id=name_from(first("gen_ai.agent.name")) or "opentelemetry",
        user_id=name_from(first("enduser.id")) or name_from(first("user.id")),
        metadata={"trace_ids": [trace_id for trace_id, _ in ordered], **about},
        initial_state=initial_state,
        steps=placed,
        started_at=_begins(ordered[0][1]),
    )


def _spans_of(document: JsonObject) -> Iterator[tuple[JsonObject, str]]:
    for r, resource in enumerate(required_list(document, "resourceSpans", "The export")):
        pointer = f"/resourceSpans/{r}"
        scopes = required_list(
            required_object(resource, "The resource", pointer), "scopeSpans", "It", pointer
        )
        for s, scope in enumerate(scopes):
            within = f"{pointer}/scopeSpans/{s}"
            spans = required_list(required_object(scope, "The scope", within), "spans", "The scope", within)
            for n, span in enumerate(spans):
                yield required_object(span, f"Span {n}", f"{within}/spans/{n}"), f"{within}/spans/{n}"


def _attributes(span: JsonObject) -> JsonObject:
    """The attributes of a span and of its events, in which the messages may stand as well."""
    found: JsonObject = {}
    for holder in (*objects(span.get("events")), span):
        for attribute in objects(holder.get("attributes")):
            key, value = attribute.get("key"), an_object(attribute.get("value"))
            if isinstance(key, str):
                found[key] = next((value[each] for each in _VALUES if each in value), None)
    return found


def _span(raw: JsonObject, attributes: JsonObject) -> Span:
    operation = attributes.get("gen_ai.operation.name")
    kind = _KINDS.get(operation, OTHER) if isinstance(operation, str) else OTHER
    called = kind == TOOL
    names = (attributes.get("gen_ai.tool.name") if called else None, raw.get("name"))
    return Span(
        kind=kind,
        name=next((name for each in names if (name := plain(each))), "unknown"),
        input=attributes.get("gen_ai.tool.call.arguments" if called else "gen_ai.input.messages"),
        output=attributes.get("gen_ai.tool.call.result" if called else "gen_ai.output.messages"),
        starts=_time(raw.get("startTimeUnixNano")),
        ends=_time(raw.get("endTimeUnixNano")),
        call_id=name_from(attributes.get("gen_ai.tool.call.id")),
        about={"span_id": raw.get("spanId")},
    )


def _time(nanoseconds: JsonValue) -> datetime | None:
    """OTLP writes 64-bit numbers as text."""
    if isinstance(nanoseconds, str) and nanoseconds.isdecimal() and len(nanoseconds) < 20:
        nanoseconds = int(nanoseconds)
    return moment(nanoseconds / _NANOSECONDS) if type(nanoseconds) is int and nanoseconds < 10**19 else None


def _begins(spans: list[tuple[Span, JsonObject, bool]]) -> datetime | None:
    return min((span.starts for span, _, _ in spans if span.starts), default=None)
