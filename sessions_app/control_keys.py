"""The keys of a state that bind: `frozen`, and `incident` as its label (contract section 8). Pure."""

from statebase_site.base.json import JsonObject

FROZEN = "frozen"
INCIDENT = "incident"
_CONTROL_KEYS = frozenset((FROZEN, INCIDENT))


def is_frozen(state: JsonObject) -> bool:
    """A session is frozen if and only if `frozen` is JSON `true`: not 1, not "true" (contract 8.1)."""
    return state.get(FROZEN) is True


def is_control_update(changes: JsonObject) -> bool:
    """At least one control key, no other key, every value a JSON boolean (contract 8.1)."""
    return (
        bool(changes)
        and changes.keys() <= _CONTROL_KEYS
        and all(isinstance(each, bool) for each in changes.values())
    )


def restored_while_frozen(snapshot: JsonObject, current: JsonObject) -> JsonObject:
    """What a rollback of a frozen session gives: the snapshot, still frozen (contract 8.4)."""
    kept: JsonObject = {FROZEN: True}
    if current.get(INCIDENT) is True:
        kept[INCIDENT] = True
    return {**snapshot, **kept}


def restored_while_running(snapshot: JsonObject) -> JsonObject:
    """What a rollback or fork of a running session gives: the snapshot, but never frozen (contract 8.4)."""
    if not is_frozen(snapshot):
        return snapshot
    thawed: JsonObject = {FROZEN: False}
    if snapshot.get(INCIDENT) is True:
        thawed[INCIDENT] = False
    return {**snapshot, **thawed}
