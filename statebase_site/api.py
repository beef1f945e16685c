"""The JSON API: one frame, to which each app adds its routes."""

from django.conf import settings

import incidents_app.api
import sessions_app.api
from statebase_site import keys_api, webhooks_api
from statebase_site.web.api import new_api

api = new_api(
    title="StateBase",
    version=settings.VERSION,
    description="Undo for AI agents: versioned sessions, turns, traces, rollback, freeze and incidents.",
)
api.add_router("", sessions_app.api.router)
api.add_router("", incidents_app.api.router)
api.add_router("", keys_api.router)
api.add_router("", webhooks_api.router)
