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


def rolled_back(snapshot: JsonObject, current: JsonObject) -> JsonObject:
    """What a rollback from `current` gives: the snapshot, frozen exactly if `current` is (contract 8.4)."""
    if not is_frozen(current):
        return thawed(snapshot)
    kept: JsonObject = {FROZEN: True}
    if current.get(INCIDENT) is True:
        kept[INCIDENT] = True
    return {**snapshot, **kept}


def thawed(snapshot: JsonObject) -> JsonObject:
    """What a fork gives, or a rollback of a running session: the snapshot, never frozen (contract 8.4)."""
    if not is_frozen(snapshot):
        return snapshot
    released: JsonObject = {FROZEN: False}
    if snapshot.get(INCIDENT) is True:
        released[INCIDENT] = False
    return {**snapshot, **released}


def data(state: JsonObject) -> JsonObject:
    """The state without the keys of a freeze: what is compared where only data counts."""
    return {
        key: value for key, value in state.items() if not (key in _CONTROL_KEYS and isinstance(value, bool))
    }
