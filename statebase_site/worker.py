"""The background worker's loop: what is due in the database gets done, until told to stop."""

import logging
import threading

from django.db import close_old_connections

from incidents_app.actions import maintenance as incidents
from sessions_app.actions import maintenance as sessions

SECONDS_BETWEEN_ROUNDS = 5
_log = logging.getLogger(__name__)


def run(stop: threading.Event) -> None:
    """Do what is due, and look again every few seconds, until `stop` is set.

    A round that fails is logged and tried again: a database that is away for a moment ends no worker.
    """
    while not stop.is_set():
        done = 0
        for job in (sessions.run_once, incidents.run_once):
            try:
                done += job()
            except Exception:
                _log.exception("A round of background work failed; the next one tries again")
        close_old_connections()
        if not done:
            stop.wait(SECONDS_BETWEEN_ROUNDS)
