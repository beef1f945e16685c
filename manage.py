#!/usr/bin/env python3
"""Django's command line, in an environment that it makes for itself."""

import os
import sys

from statebase_site import bootstrap


def main():
    bootstrap.enter(sys.argv)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "statebase_site.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))  # a wrong variable is the user's to mend: one sentence, no traceback
    except DatabaseError:
        _leave_where_the_database_is_not_ready()
        raise


def _leave_where_the_database_is_not_ready():
    """One sentence in place of a traceback where the database is out of reach, or has no tables yet."""
    from statebase_site import server

    server.leave_unless_database_answers()
    if "migrate" not in sys.argv[1:2]:
        server.leave_unless_migrated()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)  # as shells report Ctrl-C
