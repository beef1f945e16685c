"""What every act keeps, whatever it does: whose incident, who may, once only, and words for what is wrong."""

import pytest
from django.db import connection

from incidents_app.models import TimelineEvent
from incidents_app.payloads import answers
from sessions_app.models import AgentSession, StateVersion, Trace
from statebase_site.base import json
from statebase_site.views import _schema
from tests.api.incidents.conftest import ACTS, STATUS
from tests.api.shapes import assert_shape

REPORTED = {"/freeze", "/pin", "/note", "/sessions", "/severity"}
"""What `sessions:write` suffices for (contract 16)."""
BAD = (1.5, True, [None], {"a": 1}, "a\x00b", "x" * 20_000, 10**4000, -(10**4000), "999")


def left_behind():
    """How much there is of everything that an act may write."""
    tables = [each._meta.db_table for each in (TimelineEvent, Trace, StateVersion, AgentSession)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + ", ".join(f"(SELECT COUNT(*) FROM {table})" for table in tables))
        return cursor.fetchone()


@pytest.mark.parametrize("route", ACTS)
def test_it_answers_what_it_made_and_does_it_once_under_one_key(case, route):
    first = case.act(route, Idempotency_Key="k")
    made = json.parse(first.content)
    if route == "/scenarios":
        assert_shape(made, answers.Scenario)
    else:
        assert_shape(made, answers.IncidentInFull)
        assert made == case.read()
    assert "Idempotency-Replayed" not in first
    before = left_behind()
    method, body = case.request(route)
    again = case.api(method, case.address(route), body, Idempotency_Key="k")
    assert (again.status_code, again["Idempotency-Replayed"]) == (STATUS.get(route, 200), "true")
    assert again.content == first.content
    assert left_behind() == before
    other = {**body, "another": "request"}
    error = case.api.error(method, case.address(route), other, status=409, Idempotency_Key="k")
    assert error["code"] == "idempotency_conflict"


def test_acts_are_for_those_who_may(case, agent, stranger, with_scopes):
    reader, manager = with_scopes("sessions:read", "memory:write"), with_scopes("incident:manage")
    before = left_behind()
    for route in ACTS:
        method, body = case.request(route)
        error = stranger.error(method, case.address(route), body, status=404)
        assert (error["code"], error["param"]) == ("incident_not_found", "incident_id"), route
        needed = "sessions:write" if route in REPORTED else "*" if route == "/override" else "incident:manage"
        error = reader.error(method, case.address(route), b"{broken", status=403)
        assert error["required_scope"] == needed, route
        if route not in REPORTED:
            error = agent.error(method, case.address(route), body, status=403)
            assert error["required_scope"] == needed, route
    assert left_behind() == before
    # Each alone suffices for what both may.
    for route in sorted(REPORTED):
        for by in (agent, manager):
            case.act(route, by=by)


def test_bad_input_is_told_in_words_and_leaves_nothing_behind(case):
    case.act("/followups")
    for route in ACTS:
        method, good = case.request(route)
        for field in good:
            before = left_behind()
            if case.api(method, case.address(route), {**good, field: None}).status_code < 300:
                before = left_behind()
            for value in BAD:
                answer = case.api(method, case.address(route), {**good, field: value})
                if answer.status_code < 300:
                    assert isinstance(value, str) or value is good[field], (route, field, value)
                    before = left_behind()
                    continue
                assert 400 <= answer.status_code < 500, (route, field, value)
                assert " " in json.parse(answer.content)["error"]["message"]
                assert left_behind() == before, (route, field, value)


def test_what_is_over_its_limit_is_refused_also_where_nothing_would_change(case):
    document = _schema()
    tried = 0
    for route in ACTS:
        if route in ("/override", "/decline", "/merge", "/reopen"):
            continue  # they would end it
        case.act(route)
        method, good = case.request(route)
        path = f"/v1/incidents/{{incident_id}}{route.replace('/1', '/{n}')}"
        body = document["paths"][path][method.lower()]["requestBody"]["content"]["application/json"]
        schema = document["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
        for field, told in schema["properties"].items():
            for kind in (told, *told.get("anyOf", [])):
                if most := kind.get("maxLength"):
                    error = case.api.error(
                        method, case.address(route), {**good, field: "x" * (most + 1)}, status=400
                    )
                    assert error["param"] == field, route
                    tried += 1
    assert tried


def test_an_ended_incident_is_read_only(case):
    case.act("/followups")
    case.act("/decline")
    before = left_behind()
    for route in ACTS.keys() - {"/reopen", "/decline", "/followups/1", "/followups/1/done"}:
        method, body = case.request(route)
        error = case.api.error(method, case.address(route), body, status=409)
        assert error["code"] == "incident_ended", route
        assert "Reopen" in error["suggestion"]
    assert left_behind() == before
    # What was promised can still be done.
    case.api.json("POST", f"{case.path}/followups/1/done")
