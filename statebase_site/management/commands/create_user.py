"""`manage.py create_user NAME`: a person who can sign in, and a member of a project."""

import sys
from getpass import getpass
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from statebase_site.access import actions
from statebase_site.access.models import Role
from statebase_site.base.errors import DomainError
from statebase_site.management.commands._checks import OF_SETTINGS
from statebase_site.management.commands._projects import named_project


class Command(BaseCommand):
    help = "Make a person who can sign in, or give one who exists a role in another project."
    requires_system_checks = OF_SETTINGS

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--project", help="slug of the project; not needed where there is one only")
        parser.add_argument(
            "--role", default=Role.ADMIN, choices=Role.values, help=f"default {Role.ADMIN.value}"
        )
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input, for scripts"
        )

    def handle(
        self,
        *args: Any,
        username: str,
        project: str | None,
        role: str,
        password_stdin: bool,
        **options: Any,
    ) -> None:
        owner = named_project(project)
        user = get_user_model().objects.filter(username=username).first()
        try:
            if user is None:
                password = _password(password_stdin)
                actions.create_member(project=owner, username=username, password=password, role=role)
            else:
                actions.set_role(project=owner, user=user, role=role)
        except DomainError as error:
            raise CommandError(error.in_words) from error
        self.stdout.write(f"{username} is {role} of {owner.slug} and signs in with name and password.")


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    if not sys.stdin.isatty():
        raise CommandError("There is no terminal to ask for a password: send it with --password-stdin.")
    try:
        password = getpass("Password: ")
        if getpass("Once more: ") != password:
            raise CommandError("The two passwords differ; nothing was made.")
    except (KeyboardInterrupt, EOFError):
        raise CommandError("Nothing was made.") from None
    return password
