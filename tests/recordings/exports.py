"""A session as this project exports it: an update, a turn with a state, a rollback."""

from hashlib import sha256

from statebase_site.base import json


def hash_of(value):
    """Of the value as compact JSON."""
    return sha256(json.dumps(value).encode()).hexdigest()


def _at(minute):
    return f"2025-03-01T09:{minute:02}:00.000000Z"


def _version(number, state, source, **more):
    return {
        "object": "state_version",
        "version": number,
        "state": state,
        "created_at": _at(number),
        "reasoning": f"Step {number}",
        "source": source,
        "restored_from_version": None,
        "sha256": hash_of(state),
        **more,
    }


_EXPORT = {
    "object": "session_export",
    "format": 1,
    "session": {
        "object": "session",
        "id": "sess_a",
        "agent_id": "till",
        "user_id": "ann",
        "metadata": {"team": "a"},
        "created_at": _at(0),
    },
    "omitted": ["memories", "traces", "refused_writes"],
    "versions": [
        _version(0, {"n": 0}, "create"),
        _version(1, {"n": 1}, "update"),
        _version(2, {"n": 2}, "turn"),
        _version(3, {"n": 1}, "rollback", restored_from_version=1),
    ],
    "turns": [
        {
            "turn_number": 1,
            "input": {"type": "text", "content": "Count"},
            "output": {"type": "text", "content": "2"},
            "metadata": {},
            "reasoning": "Step 2",
            "state_before": None,
            "state_after": None,
            "state_before_version": None,
            "state_after_version": 2,
            "state_version": 2,
            "created_at": _at(2),
        }
    ],
    "entities": [],
}
STATEBASE = {**_EXPORT, "sha256": hash_of(_EXPORT)}
