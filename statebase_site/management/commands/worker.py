"""`manage.py worker`: background work, beside `serve`."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from statebase_site import server, worker
from statebase_site.management.commands._checks import OF_SETTINGS


class Command(BaseCommand):
    help = "Do the background work (expiry, purge, webhooks) until stopped by Ctrl-C or SIGTERM."
    requires_system_checks = OF_SETTINGS

    def handle(self, *args: Any, **options: Any) -> None:
        server.leave_unless_database_answers()
        server.leave_unless_migrated()
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        worker.run(stop)
