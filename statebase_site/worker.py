"""The background worker's loop: what is due in the database gets done, until told to stop."""

import logging
import threading

from django.db import close_old_connections

from incidents_app.actions import maintenance as incidents
from sessions_app.actions import maintenance as sessions
from statebase_site.webhook_data import data_of
from statebase_site.webhooks import delivering

SECONDS_BETWEEN_ROUNDS = 5
_log = logging.getLogger(__name__)


def run(stop: threading.Event) -> None:
    """Do what is due, and look again every few seconds, until `stop` is set; send webhooks beside it.

    A round that fails is logged and tried again: a database that is away for a moment ends no worker.
    """
    # In a thread of its own: what waits for other people's servers must not keep a freeze waiting.
    sending = threading.Thread(target=delivering.run, args=(stop, data_of), name="webhooks")
    sending.start()
    try:
        _do_jobs(stop)
    finally:
        stop.set()
        sending.join()


def _do_jobs(stop: threading.Event) -> None:
    while not stop.is_set():
        done = 0
        for job in (sessions.run_once, incidents.run_once, delivering.forget_old):
            try:
                done += job()
            except Exception:
                _log.exception("A round of background work failed; the next one tries again")
        close_old_connections()
        if not done:
            stop.wait(SECONDS_BETWEEN_ROUNDS)
