"""Two keys of two projects see, guess and count nothing of each other, on any route there is (contract 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from sessions_app.actions import maintenance
from statebase_site.base import clock, json
from tests import factories
from tests.api.conftest import Api
from tests.api.incidents.conftest import ACTS
from tests.twins import MARK, TURN, USER, Twin, arguments, body_of, grow, operations, told

START = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
LATER = START + timedelta(hours=2)

OWN_WORDS = {"user_id", "agent_id", "new_agent_id", "entity_id", "owner_id"}
"""Names that clients choose: in each project they mean something else."""
NUMBERS = {"number", "n"}
"""Arguments that count inside of what another argument names."""
# Bodies that are right, so that only the id can be refused.
BODIES: dict[str, Any] = {
    "/state": {"state": {"a": 1}},
    "/rollback": {"version": 0},
    "/turns": TURN,
    "/memories": {"content": MARK},
    "/search": {"query": MARK},
    "/{entity_id}": {"attributes": {}},
    "/runs": {"session_id": "OWN", "agent_version": "1", "outcome": "green"},
}


@pytest.fixture(scope="module")
def mine(module_db):
    """Project B, which is there before the other."""
    with clock.at(START):
        made = grow(new_project("B"))
    with clock.at(LATER):
        take_notice(made)
    return made


@pytest.fixture(scope="module")
def told_alone(mine):
    """What B is told while it is the only one."""
    with clock.at(LATER):
        return told(mine)


@pytest.fixture(scope="module")
def both(mine, told_alone):
    """Project A with three incidents, and B, with the same words in everything."""
    with clock.at(START + timedelta(hours=1)):
        theirs = grow(new_project("A"), 3)
    with clock.at(LATER):
        take_notice(theirs)
    return theirs, mine


@pytest.fixture
def two(both, db):
    with clock.at(LATER):
        yield both


def new_project(name: str) -> Api:
    """A full key of it."""
    return Api(factories.api_key(factories.project(name))[1])


def take_notice(twin: Twin) -> None:
    """Let incidents notice what happened to their sessions; else the first reading of one would."""
    twin.api.get("/v1/incidents?status=open")


def body_for(route: str, mine: Twin) -> Any:
    """A body that the route takes, with ids of the caller's own."""
    names = {"SESSION": mine.names["session_id"], "OTHER": mine.names["session_id"]}
    names |= {"OWN": mine.names["session_id"], "TURN": mine.names["turn_id"], "INCIDENT-2": "INCIDENT-1"}
    act = route.partition("/{incident_id}")[2].replace("{n}", "1")
    found = ACTS[act][2] if act in ACTS else {}
    for end, body in BODIES.items():
        if "{incident_id}" not in route and route.endswith(end):
            found = body
    return {name: names.get(value, value) if type(value) is str else value for name, value in found.items()}


def unknown(name: str) -> str:
    """An id like this one that nothing ever had."""
    return name[:-3] + "9zz" if "_" in name else "INCIDENT-9"


def answer_to(by: Twin, of: Twin, method: str, address: str, body: Any, name: str) -> tuple[Any, ...]:
    """All of an answer but what differs each time: the id asked for, and new ones, unless they are `of`'s."""
    answer = by.api(method, address, None if method == "GET" else body)
    text = body_of(answer).decode().replace(name, "ID")
    theirs = of.names.values()
    text = re.sub(r"\b[a-z]+_[a-z0-9]{12,}\b", lambda each: each[0] if each[0] in theirs else "ID", text)
    changing = {"X-Request-Id", "X-StateBase-Latency", "X-RateLimit-Reset", "Content-Length"}
    return answer.status_code, text, {k: v for k, v in answer.headers.items() if k not in changing}


def test_an_id_of_another_project_in_an_address_is_one_that_never_existed(two):
    theirs, mine = two
    unfiltered = ("",)
    before = told(theirs, unfiltered)
    tried = 0
    for method, route in operations():
        for argument in set(arguments(route)) - OWN_WORDS - NUMBERS:
            foreign, body = theirs.names[argument], body_for(route, mine)
            query = "?version=0&query=x&to=closed" if method == "GET" else ""
            told_of = [
                answer_to(mine, theirs, method, mine.at(route, **{argument: name}) + query, body, name)
                for name in (foreign, unknown(foreign))
            ]
            assert told_of[0] == told_of[1], (method, route)
            assert told_of[0][0] == 404, (method, route, told_of[0])
            tried += 1
    assert tried > 80
    # Not even a trace of what was tried.
    assert told(theirs, unfiltered) == before


def fields_with_ids(document: Any) -> list[tuple[str, str, str, bool]]:
    """Method, path, name and whether it is in the address, of every field that may hold an id."""
    plain = {"starting_after", "left", "right", "with", "sessions", "traces", "into", "scenario"}

    def holds_ids(name: str) -> bool:
        return name not in OWN_WORDS and (name in plain or name.endswith("_id"))

    found = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            names = [
                (each["name"], True) for each in operation.get("parameters", []) if each["in"] == "query"
            ]
            for content in operation.get("requestBody", {}).get("content", {}).values():
                reference = content["schema"].get("$ref", "").rpartition("/")[2]
                properties = document["components"]["schemas"].get(reference, content["schema"])["properties"]
                names += [(name, False) for name in properties]
            found += [(method.upper(), path, name, where) for name, where in names if holds_ids(name)]
    return found


def test_an_id_of_another_project_in_a_field_is_one_that_never_existed(two):
    theirs, mine = two
    before = theirs.api.get("/v1/traces?limit=100")
    fields = fields_with_ids(mine.api.get("/openapi.json"))
    assert len(fields) > 40
    foreign = {theirs.names[name] for name in theirs.names.keys() - OWN_WORDS - NUMBERS}
    for method, path, field, in_address in fields:

        def asked(name: str, method=method, path=path, field=field, in_address=in_address) -> tuple[Any, ...]:
            own = f"{mine.names['session_id']}:0"
            query = {"query": MARK, "version": "0", "left": own, "right": own if path == "/v1/diff" else "0"}
            body = body_for(path, mine)
            if field == "turn_id":
                body.pop("version", None)  # it would count instead
            value = f"{name}:0" if path == "/v1/diff" else name
            if in_address:
                query[field] = value
            else:
                body[field] = [value] if field in ("sessions", "traces") else value
            address = f"{mine.at(path)}?{urlencode(query)}" if method == "GET" else mine.at(path)
            return answer_to(mine, theirs, method, address, body, name)

        of_nothing = {name: asked(unknown(name)) for name in ("sess_000000000000", "INCIDENT-3")}
        for name in foreign:
            expected = of_nothing["INCIDENT-3" if "-" in name else "sess_000000000000"]
            assert asked(name) == expected, (method, path, field, name)
    assert theirs.api.get("/v1/traces?limit=100") == before


def test_nothing_that_happens_in_one_project_changes_what_another_is_told(told_alone, two, settings):
    settings.PURGE_DELETED_AFTER_DAYS = 0
    theirs, mine = two
    assert any(MARK in text.decode() for text in told_alone.values())
    with clock.at(START + timedelta(hours=1)):
        session = theirs.at("/v1/sessions/{session_id}")
        theirs.api.json("POST", f"{session}/rollback", {"version": 0})
        gone = theirs.api.session({"a": MARK}, user_id=USER)
        theirs.api("DELETE", gone, status=204)
        theirs.api("DELETE", theirs.at("/v1/keys/{key_id}"), status=204)
        assert maintenance.purge_due() == 1
        theirs.api.json("POST", f"{session}/resume", {})
        for number in range(1, 4):
            theirs.api.json("POST", f"/v1/incidents/INCIDENT-{number}/decline", {"reason": "A drill"})
        theirs.api("DELETE", f"/v1/users/{USER}", status=204)
        assert MARK not in str(theirs.api.get(f"/v1/memories?user_id={USER}"))
    after = told(mine)
    assert {name for name in after if after[name] != told_alone[name]} == set()


def test_no_answer_holds_an_id_that_can_be_guessed(told_alone):
    # Versions count in their session, incidents in their project, and rows of a timeline in their incident.
    wanted = re.compile(r"[a-z]+_[a-z0-9]{12,}|\d|INCIDENT-1(:\d+)?")
    found = set()
    for text in told_alone.values():
        if text.startswith(b"200 {") and MARK.encode() in text:
            found |= {str(each) for each in ids(json.parse(text[4:])) if each}
    assert len(found) > 20
    assert [each for each in found if not wanted.fullmatch(each)] == []


def test_the_numbers_of_two_projects_are_their_own(two):
    theirs, mine = (twin.api.get("/v1/dashboard/stats")["stats"] for twin in two)
    assert theirs == mine


def ids(value: Any) -> Iterator[Any]:
    """Everything in an answer that names a row of ours."""
    if isinstance(value, list):
        for each in value:
            yield from ids(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name == "id" or (name.endswith("_id") and name not in OWN_WORDS):
                yield each
            yield from ids(each)


def test_a_rate_limit_is_of_one_key(two):
    theirs, mine = two
    limited = [
        Api(twin.api.json("POST", "/v1/keys", {"name": "Same", "rate_limit": 1}, status=201)["full_key"])
        for twin in (theirs, mine)
    ]
    for _ in range(2):
        limited[0]("GET", "/v1/sessions", status=200)
    limited[0]("GET", "/v1/sessions", status=429)
    assert limited[1]("GET", "/v1/sessions", status=200)["X-RateLimit-Remaining"] == "1"
