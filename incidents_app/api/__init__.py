"""The API's routes of incidents (contract 16): read input, call one action or a few queries, answer."""

from ninja import Router

from incidents_app.api import ending, evidence, exports, incidents, leading, preventing, recovering, scenarios

router = Router()
for part in (incidents, evidence, recovering, preventing, scenarios, leading, ending, exports):
    router.add_router("", part.router)
