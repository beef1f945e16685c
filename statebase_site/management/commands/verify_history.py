"""`manage.py verify_history`: whether the stored history is the one that was written."""

from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sessions_app.models import AgentSession
from sessions_app.queries import verify_session
from statebase_site.access.models import Project
from statebase_site.management.commands._checks import OF_SETTINGS
from statebase_site.management.commands._projects import named_project
from statebase_site.web.wording import count_noun


class Command(BaseCommand):
    help = (
        "Recompute the hash chain of sessions and name the first row that does not fit. "
        "The history is tamper-evident, not tamper-proof."
    )
    requires_system_checks = OF_SETTINGS

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sessions", nargs="*", metavar="SESSION", help="session ids; default all")
        parser.add_argument("--project", help="slug of the project; not needed where there is one only")

    def handle(self, *args: Any, sessions: list[str], project: str | None, **options: Any) -> None:
        checked = broken = 0
        for agent_session in _chosen(named_project(project), sessions):
            result = verify_session(agent_session)
            checked += 1
            if bad := result.first_bad:
                broken += 1
                self.stderr.write(f"{agent_session.public_id}: {bad.kind} {bad.name}: {bad.reason}")
            else:
                versions = count_noun(result.versions, "version")
                traces = count_noun(result.traces, "trace")
                self.stdout.write(f"{agent_session.public_id}: {versions} and {traces} fit")
        summary = f"{checked} checked, {broken} broken."
        if broken:
            raise CommandError(summary)
        self.stdout.write(summary)


def _chosen(project: Project, session_ids: list[str]) -> Iterator[AgentSession]:
    """The named sessions, or all of the project, oldest first; deleted ones too while they are stored."""
    stored = AgentSession.objects.filter(project=project)
    if not session_ids:
        yield from stored.order_by("pk").iterator()
    for session_id in session_ids:
        agent_session = stored.filter(public_id=session_id).first()
        if agent_session is None:
            raise CommandError(f"There is no session {session_id} in the project {project.slug}.")
        yield agent_session
