"""The stock agent has kept one session for nine days: two thousand versions, one for each movement."""

from __future__ import annotations

from datetime import datetime, timedelta

from sessions_app import actions
from sessions_app.demo.story import COMPENSATABLE, agent, mark, person, text, tool_turn
from sessions_app.importers import RecordedState, RecordedTurn, Run, Step
from statebase_site.access.models import Project
from statebase_site.base import clock
from statebase_site.base.json import JsonObject, JsonValue

_VERSIONS = 2000
_ARTICLES = (
    ("TR-42", "Trail shoe, size 42"),
    ("TR-43", "Trail shoe, size 43"),
    ("TR-44", "Trail shoe, size 44"),
    ("RJ-S", "Rain jacket, small"),
    ("RJ-M", "Rain jacket, medium"),
    ("RJ-L", "Rain jacket, large"),
    ("BP-30", "Backpack, 30 litres"),
    ("BP-45", "Backpack, 45 litres"),
    ("HL-1", "Head lamp"),
    ("SB-2", "Sleeping bag, two seasons"),
    ("SB-4", "Sleeping bag, four seasons"),
    ("TN-2", "Tent for two"),
    ("TN-3", "Tent for three"),
    ("GC-230", "Gas cartridge, 230 g"),
)
_EVERY = timedelta(days=9) / _VERSIONS


def _movement(number: int, stock: dict[str, int]) -> tuple[str, str, int, str]:
    """Kind, article, signed quantity and reasoning of a movement; goods come in when a shelf runs low."""
    article, name = _ARTICLES[number * 5 % len(_ARTICLES)]
    quantity = 1 + number * 7 % 4
    if stock[article] < 12:
        return "delivery", article, 40, f"Delivery of 40 × {name} was booked in at gate {1 + number % 3}"
    if number % 23 == 0:
        return "return", article, 1, f"1 × {name} came back unworn from order {51000 + number * 3}"
    return "pick", article, -quantity, f"Picked {quantity} × {name} for order {51000 + number * 3}"


def _steps(begins: datetime) -> tuple[JsonObject, list[Step]]:
    stock = {article: 24 + 3 * place for place, (article, _) in enumerate(_ARTICLES)}

    def state(**rest: int | str | JsonObject | None) -> JsonObject:
        shelves: list[JsonValue] = [
            {"id": each, "name": name, "on_hand": stock[each]} for each, name in _ARTICLES
        ]
        return {"warehouse": "Rotterdam 2", "shelves": shelves, **rest}

    initial = state(movements=0, last=None)
    steps: list[Step] = []
    moment = begins
    for number in range(1, _VERSIONS - 2):
        # People work by day: the pauses differ, and every ninetieth is a break.
        moment += _EVERY * (0.4 + number * 37 % 100 / 100) if number % 90 else _EVERY * 10
        kind, article, quantity, reasoning = _movement(number, stock)
        stock[article] += quantity
        after = state(movements=number, last={"kind": kind, "article": article, "quantity": quantity})
        if kind == "delivery":
            given, answer = tool_turn(
                "book_delivery",
                {"article": article, "quantity": quantity},
                {"on_hand": stock[article]},
                effect=COMPENSATABLE,
                call_id=f"call_{number:04d}",
            )
            steps.append(RecordedTurn(given, answer, reasoning, {"duration_ms": 210}, after, moment))
        else:
            steps.append(RecordedState(after, reasoning, moment))
        if number % 400 == 0:
            steps.append(
                RecordedTurn(
                    text("How many movements today, and is anything running low?"),
                    text(f"{number} movements so far; the fullest shelf holds {max(stock.values())} pieces."),
                    at=moment + timedelta(seconds=40),
                )
            )
    return initial, steps


def _two_thousand_versions(project: Project, now: datetime, slug: str) -> None:
    begins = now - timedelta(days=10)
    by = agent(project, "sb_W6sJb")
    initial, steps = _steps(begins)
    session = actions.import_run(
        run=Run(
            agent_id="stock-agent",
            user_id="rotterdam-2",
            metadata={"site": "Rotterdam 2", "model": "gpt-4o-mini", "checkpoint": "after every movement"},
            initial_state=initial,
            steps=tuple(steps),
            started_at=begins,
            fingerprint=mark(slug),
        ),
        by=by,
    ).agent_session
    moment = session.updated_at
    with clock.at(moment + timedelta(minutes=3)):
        actions.update_state(
            session_id=session.public_id,
            changes={"shelves": [], "last": {"kind": "recount", "article": "all", "quantity": 0}},
            reasoning="Recount: the scanner reported every shelf as empty",
            by=by,
        )
    with clock.at(moment + timedelta(minutes=8)):
        actions.rollback(
            session_id=session.public_id,
            version=session.head_version,
            reason="The scanner was offline, the shelves are not empty",
            by=person(project, "jon"),
        )
    with clock.at(moment + timedelta(minutes=21)):
        actions.update_state(
            session_id=session.public_id,
            changes={"scanner": "replaced"},
            reasoning="A new scanner is in place",
            by=by,
        )


TWO_THOUSAND_VERSIONS = ("stock-two-thousand-versions", _two_thousand_versions)
