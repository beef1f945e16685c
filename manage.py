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

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))  # a wrong variable is the user's to mend: one sentence, no traceback
    except Exception as error:
        from statebase_site import server

        server.leave_where_the_database_is_not_ready(error, sys.argv)
        raise


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)  # as shells report Ctrl-C
