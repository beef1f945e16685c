"""The evidence bundle of an incident: everything of it as JSON, with the hashes that prove it.

Secrets are masked and counted. A pin keeps the hash of what was pinned, and has one of what stands here;
`digest` is over the whole bundle. The same facts give the same bytes.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import Any

from incidents_app.masking import mask
from incidents_app.models import Episode, Scenario
from incidents_app.payloads import objects
from incidents_app.queries import Assessed, Details, Record
from statebase_site.base import json
from statebase_site.base.clock import isoformat
from statebase_site.base.json import JsonObject, JsonValue

_OF_EPISODE = ("sessions", "metrics", "prevention", "review", "overrides")
"""What of an incident belongs to one of its episodes."""


def bundle(record: Record) -> JsonObject:
    """The bundle, to be written with `written`."""
    counts: Counter[str] = Counter()
    episodes: list[JsonValue] = [
        _episode(found, details, record, counts) for found, details in record.episodes
    ]
    rest = mask({**_incident(record), "episodes": []})
    counts.update(rest.counts)
    made: JsonObject = {**rest.value, "episodes": episodes}  # type: ignore[dict-item]
    made["masked"] = _counted(counts)
    made["digest"] = {
        "algorithm": "sha256",
        "of": "this object without digest, as compact JSON with sorted keys in UTF-8",
        "value": sha256(json.canonical(made).encode()).hexdigest(),
    }
    return made


def written(made: JsonObject) -> str:
    """The text of a bundle, for people too."""
    return json.pretty(made) + "\n"


def _incident(record: Record) -> JsonObject:
    found, details = record.current
    full = _plain(objects.incident_in_full(found, details))
    reference = found.incident.reference
    for name in (*_OF_EPISODE, "earlier_episodes", "scenarios", "follow_ups"):
        del full[name]
    return {
        "object": "incident_bundle",
        "format": 1,
        "incident": full,
        "timeline": [_plain(objects.event(each, reference)) for each in record.events],
        "follow_ups": [_plain(objects.follow_up(each)) for each in details.follow_ups],
        "scenarios": [_scenario(each) for each in details.scenarios],
    }


def _episode(found: Assessed, details: Details, record: Record, counts: Counter[str]) -> JsonValue:
    full = _plain(objects.incident_in_full(found, details))
    masked = mask({**_times(found.episode), **{name: full[name] for name in _OF_EPISODE}})
    counts.update(masked.counts)
    made: Any = masked.value
    for session, row in zip(made["sessions"], found.affected, strict=True):
        for shown, pin in zip(session["pins"], details.pins.get(row.pk, ()), strict=True):
            content = mask(json.parse_stored(record.contents[pin.pk]))
            counts.update(content.counts)
            shown["content"] = content.value
            shown["content_sha256"] = sha256(json.dumps(content.value).encode()).hexdigest()
            shown["masked"] = content.total
    return made


def _times(episode: Episode) -> JsonObject:
    moments = {
        "opened_at": episode.opened_at,
        "contained_at": episode.contained_at,
        "recovered_at": episode.recovered_at,
        "resolved_at": episode.resolved_at,
        "closed_at": episode.closed_at,
    }
    return {
        "episode": episode.number,
        "opened_by": episode.opened_by,
        "reason": episode.reason or None,
        **{name: isoformat(moment) if moment else None for name, moment in moments.items()},
    }


def _scenario(scenario: Scenario) -> JsonValue:
    bad = scenario.bad_state_text
    return {
        **_plain(objects.scenario(scenario)),
        "good_state": json.parse_stored(scenario.good_state_text),
        "bad_state": json.parse_stored(bad) if bad is not None else None,
    }


def _counted(counts: Counter[str]) -> JsonObject:
    return {"total": sum(counts.values()), "by_rule": dict(sorted(counts.items()))}


def _plain(payload: objects.Payload) -> JsonObject:
    """A payload without texts that stand for values."""
    return json.parse_stored(json.render(payload))  # type: ignore[return-value]
