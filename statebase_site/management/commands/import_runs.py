"""`manage.py import_runs PATH…`: recorded agent runs become sessions, their branches forks."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sessions_app import actions
from sessions_app.importers import READERS, Run, Unreadable, read_file, run_files
from sessions_app.models import AgentSession
from statebase_site.access.actor import Actor, system_actor
from statebase_site.base.errors import DomainError
from statebase_site.management.commands._checks import OF_SETTINGS
from statebase_site.management.commands._projects import named_project
from statebase_site.web.wording import count_noun


class Command(BaseCommand):
    help = (
        "Load recorded agent runs as sessions; what was loaded before is not loaded again. "
        f"Formats: {', '.join(reader.NAME for reader in READERS)}, told apart by what is in them."
    )
    requires_system_checks = OF_SETTINGS

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH", help="file or folder; - is standard input")
        parser.add_argument("--project", help="slug of the project; not needed where there is one only")

    def handle(self, *args: Any, paths: list[str], project: str | None, **options: Any) -> None:
        self.loaded = self.already_there = self.failed = 0
        by = system_actor(named_project(project))
        for file in run_files(paths, sys.stdin.buffer):
            if isinstance(file, Unreadable):
                self.refuse(str(file))
                continue
            for run in read_file(file):
                if isinstance(run, Unreadable):
                    self.refuse(str(run))
                else:
                    self.load(run, by)
        summary = f"{self.loaded} loaded, {self.already_there} already there, {self.failed} failed."
        if self.failed:
            raise CommandError(summary)
        self.stdout.write(summary)

    def load(self, run: Run, by: Actor) -> None:
        """Import one run, with a line that says so."""
        try:
            imported = actions.import_run(run=run, by=by)
        except DomainError as error:
            self.refuse(f"{run.name}: {error.in_words}")
            return
        session = imported.agent_session
        if imported.already_there:
            self.already_there += 1
            deleted = ", which is deleted" if session.deleted_at else ""
            self.stdout.write(f"{run.name}: already there as {session.public_id}{deleted}")
        else:
            self.loaded += 1
            self.stdout.write(f"{run.name}: loaded as {session.public_id}, {_extent(session)}")
            for fork in imported.forks:
                self.stdout.write(
                    f"{run.name}: its fork {fork.public_id} from v{fork.forked_version} of "
                    f"{fork.forked_from}, {_extent(fork)}"
                )

    def refuse(self, line: str) -> None:
        """Count and name what could not be loaded."""
        self.failed += 1
        self.stderr.write(line)


def _extent(session: AgentSession) -> str:
    turns = count_noun(session.turn_count, "turn")
    versions = count_noun(session.head_version + 1, "version")
    return f"{turns}, {versions}"
