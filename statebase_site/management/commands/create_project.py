"""`manage.py create_project NAME`."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from statebase_site.access import actions
from statebase_site.base.errors import DomainError
from statebase_site.management.commands._checks import OF_SETTINGS


class Command(BaseCommand):
    help = "Make a project: it owns keys and sessions, and what it owns does not exist for others."
    requires_system_checks = OF_SETTINGS

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        try:
            project = actions.create_project(name=name)
        except DomainError as error:
            raise CommandError(error.in_words) from error
        self.stdout.write(f"The project {project.name} is made; commands name it --project {project.slug}.")
