"""The API's routes (contract 6.2 to 6.6, 15): read input, call one action or a few queries, answer."""

from ninja import Router

from sessions_app.api import (
    entities,
    exports,
    memories,
    sessions,
    state,
    statistics,
    time_travel,
    traces,
    turns,
)

router = Router()
for part in (sessions, exports, state, statistics, time_travel, turns, memories, traces, entities):
    router.add_router("", part.router)
