"""The travel agent: the one of the first example, corrupted at one turn; and a trip with two branches."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from sessions_app.demo.story import COMPENSATABLE, IRREVERSIBLE, Story, agent, person
from statebase_site.access.models import Project
from statebase_site.base.json import JsonValue

# Carrier, number, departure and arrival (local), stops, fare in US dollars, seats left at that fare.
_FLIGHTS = (
    ("United", "UA123", "08:15", "16:42", 0, 412.50, 7),
    ("United", "UA881", "11:05", "19:30", 0, 428.00, 4),
    ("Delta", "DL409", "06:40", "15:12", 0, 455.20, 9),
    ("Delta", "DL1172", "09:55", "20:18", 1, 338.90, 2),
    ("American", "AA2304", "07:30", "16:05", 0, 399.00, 1),
    ("American", "AA191", "13:20", "21:48", 0, 441.75, 6),
    ("JetBlue", "B6916", "15:00", "23:31", 0, 371.40, 9),
    ("JetBlue", "B6416", "22:45", "07:10", 0, 289.00, 9),
    ("Alaska", "AS24", "07:05", "15:38", 0, 404.30, 5),
    ("Alaska", "AS286", "12:10", "22:57", 1, 312.60, 3),
    ("United", "UA2175", "23:10", "07:36", 0, 301.10, 8),
    ("Delta", "DL686", "14:25", "22:55", 0, 467.00, 9),
    ("American", "AA178", "10:40", "21:20", 1, 327.80, 4),
    ("Frontier", "F9210", "05:55", "17:44", 1, 198.00, 2),
)


def _flights(day: date) -> list[JsonValue]:
    """The cached search results, as an airline's interface words them."""
    return [
        {
            "flight": number,
            "carrier": {"name": carrier, "code": number[:2]},
            "departure": {
                "airport": "SFO",
                "terminal": str(1 + place % 3),
                "local_time": f"{day}T{leaves}:00",
            },
            "arrival": {
                "airport": "JFK",
                "terminal": str(4 + place % 4),
                "local_time": f"{day}T{arrives}:00",
            },
            "stops": [{"airport": "ORD", "layover_minutes": 55 + 10 * place}] if stops else [],
            "fare": {
                "currency": "USD",
                "total": fare,
                "base": round(fare * 0.83, 2),
                "taxes": round(fare * 0.17, 2),
                "class": "economy",
                "refundable": fare > 430,
                "change_fee": 0.0 if fare > 300 else 75.0,
            },
            "seats_left": seats,
            "bags": {"carry_on": 1, "checked": 1 if fare > 400 else 0},
            "offer_id": f"off_{number.lower()}_{day:%m%d}",
        }
        for place, (carrier, number, leaves, arrives, stops, fare, seats) in enumerate(_FLIGHTS)
    ]


def _corrupted(project: Project, now: datetime, slug: str) -> None:
    day = (now + timedelta(days=23)).date()
    story = Story.begin(
        agent(project, "sb_9f2cQ"),
        slug=slug,
        agent_id="travel-agent",
        user_id="user_4410",
        starts=now - timedelta(minutes=11),
        metadata={"channel": "chat", "model": "gpt-4o", "release": "travel-agent@2.8.1"},
        state={"user_request": "book flight", "step": "gathering_info", "traveller": "Noor Haddad"},
    )
    story.say(
        "Hi, I need a flight to New York, just me.",
        "Happy to help, Noor. Which day would you like to fly, and from which airport?",
        after=14,
    )
    story.say(
        f"From San Francisco on {day:%d %B}, in the morning please.",
        "Thank you. I am looking for morning flights from San Francisco to New York.",
        after=22,
        reasoning="User asked for a flight to New York and named the day",
        destination="New York",
        dates=day.isoformat(),
        step="searching_flights",
    )
    story.call(
        "flight_search",
        {"origin": "SFO", "destination": "NYC", "date": day.isoformat(), "adults": 1},
        {"results": len(_FLIGHTS), "cheapest": 198.0, "fastest": "UA123"},
        after=3,
        took_ms=1380,
        reasoning="Searched flights, cached 14 results so that the next question needs no new search",
        last_tool="flight_search",
        flights=_flights(day),
        step="choosing_flight",
    )
    story.say(
        "The 08:15 with United looks good. Window seat if there is one.",
        "UA123 leaves at 08:15 and lands at 16:42; seat 14A is free at the window. "
        "That is 412.50 dollars. Shall I go on to payment?",
        after=38,
        reasoning="User chose UA123, window seat",
        choice={"flight": "UA123", "seat": "window", "price_usd": 412.5},
        step="confirming_booking",
    )
    story.call(
        "hold_fare",
        {"offer_id": f"off_ua123_{day:%m%d}", "minutes": 30},
        {"held_until": (now + timedelta(minutes=21)).strftime("%H:%M UTC"), "hold_id": "hold_5521"},
        after=35,
        effect=COMPENSATABLE,
        took_ms=610,
        reasoning="Checkpoint before payment: the fare is held for 30 minutes",
        pending_payment={"amount": 412.5, "currency": "USD", "card": "…4242", "hold_id": "hold_5521"},
    )
    story.call(
        "cancel_booking",
        {"id": "UA123"},
        {"cancelled": True, "hold_id": "hold_5521"},
        after=86,
        effect=IRREVERSIBLE,
        took_ms=412,
    )
    story.say(
        "Can you check whether there is an earlier one?",
        "I have cancelled everything for you.",
        after=17,
        reasoning="Cancelling as the user asked",
        metadata={"model": "gpt-4o", "temperature": 0.7},
        without=("pending_payment",),
        user_request="cancel everything",
        destination=None,
        dates=None,
    )
    story.update("Retried the request", after=22, attempts=1, last_error="destination is missing")
    story.note("tool_call.failed", after=1, tool="flight_search", error="destination must not be null")
    story.say(
        "What? No! I only asked for an earlier flight to New York.",
        "I am sorry, I do not see a trip that I could change. Where would you like to go?",
        after=41,
    )
    story.update("Retried the request", after=21, attempts=2)


def _two_branches(project: Project, now: datetime, slug: str) -> None:
    maria = person(project, "maria")
    starts = (now - timedelta(days=13)).replace(hour=9, minute=26, second=26)
    story = Story.begin(
        agent(project, "sb_9f2cQ"),
        slug=slug,
        agent_id="trip-planner",
        user_id="user_2093",
        starts=starts,
        metadata={"channel": "web", "model": "gpt-4o", "experiment": "weekend-trips"},
        state={"request": "weekend in Lisbon", "party": ["Inês", "Tomás"], "budget_eur": 900, "plan": []},
    )
    story.say(
        "We want a long weekend in Lisbon from Porto, two people, 900 euros at most.",
        "Two people, Friday to Monday, up to 900 euros. Do you prefer to fly or to take the train?",
        after=31,
    )
    story.call(
        "train_search",
        {"from": "Porto Campanhã", "to": "Lisboa Oriente", "passengers": 2},
        [
            {"train": "AP 124", "leaves": "08:52", "minutes": 178, "price_eur": 62.4},
            {"train": "IC 520", "leaves": "09:52", "minutes": 201, "price_eur": 49.8},
        ],
        after=9,
        took_ms=820,
        reasoning="Looked up trains before flights: the distance is short",
        transport={"options": 2, "cheapest_eur": 49.8},
    )
    story.say(
        "A flight is fine, if it is not much dearer.",
        "There is a flight at 07:10 for 118 euros for both of you. I put it into the plan.",
        after=65,
        reasoning="User leans to flying; TP1921 fits the budget",
        transport={"kind": "flight", "number": "TP1921", "price_eur": 118.0},
        plan=[{"id": "travel", "title": "Fly to Lisbon", "day": "Fri", "cost_eur": 118.0}],
    )
    story.call(
        "hotel_search",
        {"city": "Lisbon", "nights": 3, "max_eur_per_night": 180},
        [
            {"hotel": "Pensão do Carmo", "per_night_eur": 96.0, "rating": 8.7},
            {"hotel": "Casa da Graça", "per_night_eur": 142.0, "rating": 9.2},
        ],
        after=40,
        took_ms=1140,
        reasoning="Two hotels within the budget",
        hotels=[
            {"id": "carmo", "name": "Pensão do Carmo", "total_eur": 288.0},
            {"id": "graca", "name": "Casa da Graça", "total_eur": 426.0},
        ],
    )
    story.say(
        "Casa da Graça please.",
        "Noted: Casa da Graça for three nights, 426 euros. That leaves 356 euros.",
        after=52,
        reasoning="User chose the hotel",
        plan=[
            {"id": "travel", "title": "Fly to Lisbon", "day": "Fri", "cost_eur": 118.0},
            {"id": "stay", "title": "Casa da Graça, 3 nights", "day": "Fri", "cost_eur": 426.0},
        ],
        left_eur=356.0,
    )
    train = story.fork(1, after=3 * 3600, by=maria)
    train.say(
        "What if we take the train after all?",
        "AP 124 leaves at 08:52 and takes under three hours: 62.40 euros for both of you.",
        after=48,
        reasoning="Tried the train instead of the flight, to see what is left for the stay",
        transport={"kind": "train", "number": "AP 124", "price_eur": 62.4},
        plan=[{"id": "travel", "title": "Alfa Pendular to Lisbon", "day": "Fri", "cost_eur": 62.4}],
    )
    train.update(
        "With the train there is money for the better hotel",
        after=33,
        plan=[
            {"id": "travel", "title": "Alfa Pendular to Lisbon", "day": "Fri", "cost_eur": 62.4},
            {"id": "stay", "title": "Casa da Graça, 3 nights", "day": "Fri", "cost_eur": 426.0},
        ],
        left_eur=411.6,
    )
    child = train.fork(2, after=26 * 60, by=maria)
    child.say(
        "And if our daughter comes along? She is four.",
        "Children under five travel free on the train, and Casa da Graça puts in a bed at no cost.",
        after=57,
        reasoning="A child of four costs nothing in either, so the plan stands",
        party=["Inês", "Tomás", "Lia (4)"],
    )
    child.update(
        "Swapped the late dinner for the Oceanário, which suits a child",
        after=44,
        plan=[
            {"id": "travel", "title": "Alfa Pendular to Lisbon", "day": "Fri", "cost_eur": 62.4},
            {"id": "stay", "title": "Casa da Graça, 3 nights, extra bed", "day": "Fri", "cost_eur": 426.0},
            {"id": "oceanario", "title": "Oceanário de Lisboa", "day": "Sat", "cost_eur": 55.0},
        ],
        left_eur=356.6,
    )


CORRUPTED = ("travel-agent-corrupted", _corrupted)
TWO_BRANCHES = ("trip-with-two-branches", _two_branches)
