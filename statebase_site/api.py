"""The JSON API: one frame, to which each app adds its routes."""

from django.conf import settings

import sessions_app.api
from statebase_site.web.api import new_api

api = new_api(
    title="StateBase",
    version=settings.VERSION,
    description="Undo for AI agents: sessions, versions, turns, traces, rollback, fork and freeze.",
)
api.add_router("", sessions_app.api.router)
