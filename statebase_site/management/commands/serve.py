"""`manage.py serve`: the production server."""

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from statebase_site import server
from statebase_site.management.commands._checks import OF_SETTINGS


class Command(BaseCommand):
    help = "Serve StateBase with the production server, in the foreground; run `worker` beside it."
    requires_system_checks = OF_SETTINGS

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
        parser.add_argument("--port", type=server.port_number, default=8000, help="default 8000")
        parser.add_argument("--workers", type=int, help="processes (default 2, with SQLite 1)")

    def handle(self, *args: Any, host: str, port: int, workers: int | None, **options: Any) -> None:
        server.leave_unless_free(host, port)
        server.leave_unless_database_answers()
        server.leave_unless_migrated()
        server.collect_static_files()
        command = server.command(host, port, workers)
        os.execve(command[0], command, server.environment())  # noqa: S606 - signals go straight to it
