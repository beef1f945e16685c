"""`manage.py test`: in place of Django's, the whole of what a change has to pass."""

import sys

from django.core.management.base import BaseCommand

from statebase_site.testing import runner


class Command(BaseCommand):
    help = (
        "Run linter, formatter, type check, import contracts, migrations check, and pytest on each database."
    )

    def run_from_argv(self, argv: list[str]) -> None:
        """All arguments are pytest's, so Django must not read them."""
        sys.exit(runner.main(argv[2:]))
