"""`manage.py embed_memories`: after a change of STATEBASE_EMBEDDER."""

from typing import Any

from django.core.management.base import BaseCommand

from sessions_app import actions
from sessions_app.embedders import embedder
from statebase_site.management.commands._checks import OF_SETTINGS

_AT_ONCE = 200


class Command(BaseCommand):
    help = (
        "Give memories whose vectors another embedder made those of the one that STATEBASE_EMBEDDER names. "
        "The server may run meanwhile; a run that was ended goes on where it was."
    )
    requires_system_checks = OF_SETTINGS

    def handle(self, *args: Any, **options: Any) -> None:
        done = 0
        while made := actions.embed_anew(most=_AT_ONCE):
            done += made
        self.stdout.write(f"{done} embedded anew by {embedder().name}.")
