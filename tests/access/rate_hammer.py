"""A process of its own that sends as many requests of one key as it may, at one moment; tests start several.

Arguments: the id of a key, a Unix second. It says `ready`, waits for a line, and prints how many passed.
"""

import sys
from datetime import UTC, datetime

import django


def main(key_id: str, second: str) -> None:
    django.setup()
    from statebase_site.access import rates
    from statebase_site.access.models import ApiKey
    from statebase_site.base import clock

    key = ApiKey.objects.get(public_id=key_id)
    print("ready", flush=True)
    sys.stdin.readline()
    passed = 0
    with clock.at(datetime.fromtimestamp(float(second), UTC)):
        while rates.take(key).allowed:
            passed += 1
    print(passed, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
