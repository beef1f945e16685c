"""`manage.py bench`: hands over to bench/, which nothing imports."""

import subprocess
import sys

from django.core.management.base import BaseCommand

from statebase_site.bootstrap import ROOT


class Command(BaseCommand):
    help = "Measure the update rate and the bytes per version; see bench/."

    def run_from_argv(self, argv: list[str]) -> None:
        """All arguments are the benchmark's, so Django must not read them."""
        sys.exit(subprocess.run([sys.executable, "-m", "bench.run", *argv[2:]], cwd=ROOT).returncode)
