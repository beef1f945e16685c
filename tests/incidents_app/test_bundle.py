"""The evidence bundle: all of an incident, with hashes that anybody can check, and without secrets."""

import json
from hashlib import sha256

import pytest
from django.test import Client

from incidents_app import actions, queries
from incidents_app.models import Pin
from incidents_app.payloads.bundle import bundle, written
from tests import factories as make
from tests.incidents_app import exporting


@pytest.fixture(scope="module")
def told(module_db):
    return exporting.told()


def text_of(told) -> str:
    return written(bundle(queries.record_of(queries.incident_for(told.maria, told.incident.reference))))


def compact(value, **options) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), **options).encode()


def test_it_holds_everything_that_is_kept_of_the_incident(told):
    made = json.loads(text_of(told))
    assert (made["object"], made["format"], made["incident"]["id"]) == ("incident_bundle", 1, "INCIDENT-1")
    first, second = made["episodes"]
    assert (first["episode"], second["episode"], second["reason"]) == (1, 2, "It happened again")
    assert first["closed_at"] == "2026-11-29T15:00:00.000000Z"
    assert first["review"]["lessons"] == "Ask before cancelling."
    assert first["overrides"][0]["reason"] == "Watched by hand"
    assert first["metrics"]["bad_versions"] == 1
    session = first["sessions"][0]
    assert session["effects"][0]["disposition"] == "compensated"
    assert session["pins"][0]["content"]["state"]["booked"] is False
    assert second["sessions"][0]["exemptions"][0]["reason"] == "The data is right already"
    assert len(made["timeline"]) == told.incident.event_count
    assert [each["sequence"] for each in made["timeline"]][:2] == [4, 1]
    assert made["follow_ups"][0]["owner"] == "jon"
    scenario = made["scenarios"][0]
    assert [run["outcome"] for run in scenario["runs"]] == ["red", "green"]
    assert (scenario["good_state"]["booked"], scenario["bad_state"]["booked"]) == (True, False)


def test_the_digest_is_over_the_rest_and_each_pin_has_both_hashes(told):
    made = json.loads(text_of(told))
    digest = made.pop("digest")
    assert digest["value"] == sha256(compact(made, sort_keys=True)).hexdigest()
    pin = made["episodes"][0]["sessions"][0]["pins"][0]
    kept = Pin.objects.get()
    assert pin["sha256"] == kept.sha256 == sha256(kept.content.encode()).hexdigest()
    assert pin["content_sha256"] == sha256(compact(pin["content"])).hexdigest()
    assert pin["content_sha256"] != pin["sha256"]
    assert pin["masked"] == 1


def test_secrets_are_masked_and_counted(told):
    text = text_of(told)
    assert exporting.SECRET in Pin.objects.get().content
    assert exporting.SECRET not in text
    made = json.loads(text)
    # The summary, the arguments of the effect, the pinned state, and both states of the scenario.
    assert made["masked"] == {"total": 5, "by_rule": {"assigned": 1, "named": 4}}


def test_the_same_facts_give_the_same_bytes(told):
    first = text_of(told)
    assert text_of(told) == first
    actions.add_note(reference=told.incident.reference, text="One more", by=told.maria)
    assert text_of(told) != first


def test_it_is_downloaded_from_the_incident_and_over_the_api(told, client):
    client.force_login(make.membership(told.project, "viewer", "vera").user)
    page = client.get(f"/incidents/{told.incident.reference}/bundle.json")
    assert page["Content-Type"] == "application/json; charset=utf-8"
    assert page["Content-Disposition"] == 'attachment; filename="INCIDENT-1-bundle.json"'
    assert page["X-Content-Type-Options"] == "nosniff"
    key = make.api_key(told.project)[1]
    answer = Client().get("/v1/incidents/INCIDENT-1/bundle.json", headers={"X-API-Key": key})
    assert (answer.status_code, answer.content) == (200, page.content)
    foreign = make.api_key(make.project("Other"))[1]
    answer = Client().get("/v1/incidents/INCIDENT-1/bundle.json", headers={"X-API-Key": foreign})
    assert answer.status_code == 404


def test_what_happened_outside_is_in_it(told, client):
    client.force_login(make.membership(told.project, "viewer", "vera").user)
    make.update(told.session, {"incident": False, "frozen": False}, by=told.jon)
    made = client.get(f"/incidents/{told.incident.reference}/bundle.json").json()
    assert made["timeline"][-2]["kind"] == "outside"
    assert made["incident"]["status"] == "open"
