"""The objects of contract section 15."""

from __future__ import annotations

from sessions_app.diff import Comparison
from sessions_app.payloads.objects import Payload
from sessions_app.queries import RollbackPreview, Verification
from statebase_site.base.clock import isoformat


def difference(left: Payload, right: Payload, comparison: Comparison) -> Payload:
    """How the right document differs from the left one; each side is `{session_id, version}`."""
    return {
        "object": "diff",
        "left": left,
        "right": right,
        "equal": comparison.equal,
        "counts": comparison.counts.as_json(),
        "changes": comparison.changes,
        "patch": comparison.patch,
    }


def rollback_preview(
    session_id: str,
    preview: RollbackPreview,
    versions: list[Payload],
    turns: list[Payload],
    *,
    with_memories: bool,
) -> Payload:
    """What a rollback would do. In `diff` the right side is what it would bring: not a version yet."""
    left = {"session_id": session_id, "version": preview.from_version}
    right = {"session_id": session_id, "version": preview.to_version}
    shown: Payload = {
        "object": "rollback_preview",
        "from_version": preview.from_version,
        "to_version": preview.to_version,
        "diff": difference(left, right, preview.comparison),
        "undone_versions": versions,
        "turns": turns,
        "effects": [
            {
                "turn_id": effect.turn.public_id,
                "tool": effect.tool,
                "arguments": effect.arguments,
                "reversibility": effect.reversibility,
            }
            for effect in preview.effects
        ],
        "forks": [
            {
                "session_id": fork.public_id,
                "forked_version": fork.forked_version,
                "agent_id": fork.agent_id,
                "created_at": isoformat(fork.created_at),
            }
            for fork in preview.forks
        ],
        "omitted": [] if with_memories else ["memories"],
    }
    if with_memories:
        shown["memories"] = []
    return shown


def verification(found: Verification) -> Payload:
    """Whether a session's chain holds (section 15)."""
    bad = found.first_bad
    return {
        "object": "verification",
        "ok": found.ok,
        "versions": found.versions,
        "traces": found.traces,
        "first_bad": None
        if bad is None
        else {
            "kind": bad.kind,
            "version": int(bad.name.lstrip("version ")) if bad.kind == "version" else None,
            "name": bad.name,
            "reason": bad.reason,
        },
    }
