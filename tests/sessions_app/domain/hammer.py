"""A process of its own that writes to one session as fast as it can; the tests of concurrency start several.

Arguments: the id of a session, the id of a key, a name, and how often to write (0 = until refused).
It says `ready`, waits for a line, writes, and prints what it got as JSON.
"""

import json
import sys

import django


def main(session_id: str, key_id: str, name: str, times: int) -> None:
    django.setup()
    from sessions_app import actions
    from sessions_app.errors import SessionFrozen
    from statebase_site.access.actor import key_actor
    from statebase_site.access.models import ApiKey
    from tests import factories as make

    by = key_actor(ApiKey.objects.select_related("project").get(public_id=key_id))
    versions, turns, refused = [], [], 0
    print("ready", flush=True)
    sys.stdin.readline()
    number = 0
    while not refused and (number < times or not times):
        try:
            changes = {f"{name}-{number}": number}
            outcome = actions.update_state(session_id=session_id, changes=changes, by=by)
            versions.append(outcome.version.number)
            turn = actions.add_turn(
                session_id=session_id, input=make.text(name), output=make.text("ok"), by=by
            ).turn
            turns.append(turn.number)
        except SessionFrozen:
            refused = 1
        number += 1
    print(json.dumps({"versions": versions, "turns": turns, "refused": refused}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
