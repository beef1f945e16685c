"""`manage.py create_key --name N`: the key alone on standard output, so that scripts can take it."""

from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sessions_app import actions
from statebase_site.access.actor import system_actor
from statebase_site.access.scopes import EVERY_SCOPE, FULL
from statebase_site.base import clock
from statebase_site.base.errors import DomainError
from statebase_site.management.commands._checks import OF_SETTINGS
from statebase_site.management.commands._projects import named_project

_DAYS_MOST = 36_500


class Command(BaseCommand):
    help = "Make an API key. Prints the key, once, on standard output and all else on standard error."
    requires_system_checks = OF_SETTINGS

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", required=True, help="where it will be used")
        parser.add_argument("--project", help="slug of the project; not needed where there is one only")
        parser.add_argument(
            "--scopes",
            nargs="+",
            default=[FULL],
            help=f"what it may do, default all: {' '.join(EVERY_SCOPE)}",
        )
        parser.add_argument("--expires-days", type=int, help="days after which it ends; default never")

        parser.add_argument(
            "--rate-limit",
            type=int,
            default=0,
            help="requests a minute, and twice that at once; default no limit",
        )

    def handle(
        self,
        *args: Any,
        name: str,
        project: str | None,
        scopes: list[str],
        expires_days: int | None,
        rate_limit: int,
        **options: Any,
    ) -> None:
        owner = named_project(project)
        expires_at = _in_days(expires_days) if expires_days is not None else None
        wanted = [scope for part in scopes for scope in part.split(",") if scope]
        try:
            key, clear_key = actions.create_key(
                name=name, scopes=wanted, rate_limit=rate_limit, expires_at=expires_at, by=system_actor(owner)
            )
        except DomainError as error:
            raise CommandError(error.in_words) from error
        self.stderr.write(
            f"The key {key.name} of project {owner.slug} is made. It is shown this once; only a hash is kept."
        )
        self.stdout.write(clear_key)


def _in_days(days: int) -> datetime:
    if not 1 <= days <= _DAYS_MOST:
        raise CommandError(f"--expires-days must be a number from 1 to {_DAYS_MOST}.")
    return clock.now() + timedelta(days=days)
