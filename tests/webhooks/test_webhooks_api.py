"""Webhooks over the API: made, listed, changed, ended (contract 6.9)."""

from __future__ import annotations

import logging
import re

import pytest

from statebase_site.webhooks.events import Event
from statebase_site.webhooks.models import Delivery, Webhook
from tests import factories
from tests.api.conftest import Api
from tests.api.test_erasure import where_found

URL = "https://example.org/hooks/T0KEN-in-the-path"
BODY = {"url": URL, "events": ["session.created", "session.frozen"]}


def make(api, **fields):
    return api.json("POST", "/v1/webhooks", BODY | fields, status=201)


def test_a_webhook_is_made_and_its_secret_is_shown_once(api):
    made = make(api)
    assert made == {
        "object": "webhook",
        "id": made["id"],
        "url": URL,
        "events": ["session.created", "session.frozen"],
        "is_active": True,
        "created_at": made["created_at"],
        "secret": made["secret"],
    }
    assert re.fullmatch(r"wh_[a-z0-9]{12,}", made["id"])
    assert re.fullmatch(r"whsec_[\w-]{43}", made["secret"])
    assert made["secret"] != make(api)["secret"]
    assert make(api, secret="ein Schlüssel ☃")["secret"] == "ein Schlüssel ☃"
    shown = {name: value for name, value in made.items() if name != "secret"}
    assert api.get(f"/v1/webhooks/{made['id']}") == shown
    assert api.get("/v1/webhooks")["data"][-1] == shown
    assert api.json("PATCH", f"/v1/webhooks/{made['id']}", {}) == shown
    assert make(api, events=["turn.added", "session.created", "turn.added"])["events"] == [
        "turn.added",
        "session.created",
    ]


def test_webhooks_are_listed_newest_first_and_in_pages(api, stranger):
    theirs = make(stranger)
    ids = [make(api)["id"] for _ in range(5)][::-1]
    first = api.get("/v1/webhooks?limit=2")
    assert (first["object"], first["has_more"]) == ("list", True)
    assert (first["first_id"], first["last_id"]) == (ids[0], ids[1])
    second = api.get(f"/v1/webhooks?limit=200&starting_after={ids[1]}")
    assert [each["id"] for each in first["data"] + second["data"]] == ids
    assert not second["has_more"]
    for query, param in (
        ("limit=0", "limit"),
        ("limit=x", "limit"),
        (f"starting_after={theirs['id']}", "starting_after"),
    ):
        assert api.error("GET", f"/v1/webhooks?{query}", status=400)["param"] == param
    for path in (f"/v1/webhooks/{theirs['id']}", "/v1/webhooks/wh_unknown", "/v1/webhooks/%00"):
        for method, body in (("GET", None), ("PATCH", {"is_active": False}), ("DELETE", None)):
            error = api.error(method, path, body, status=404)
            assert (error["code"], error["param"]) == ("webhook_not_found", "webhook_id")
    assert stranger.get(f"/v1/webhooks/{theirs['id']}")["is_active"]


def test_what_is_given_is_changed_and_a_deleted_one_is_gone(api):
    made = make(api)
    path = f"/v1/webhooks/{made['id']}"
    changed = api.json("PATCH", path, {"events": ["turn.added"], "url": None, "secret": "unknown field"})
    assert (changed["events"], changed["url"], changed["is_active"]) == (["turn.added"], URL, True)
    assert api.json("PATCH", path, {"is_active": False})["is_active"] is False
    assert api.json("PATCH", path, {"url": "http://example.org/"})["url"] == "http://example.org/"
    assert Webhook.objects.get().secret == made["secret"]
    assert api("DELETE", path, status=204).content == b""
    assert api.get("/v1/webhooks")["data"] == []
    assert Webhook.objects.get().secret == ""
    for method in ("GET", "DELETE"):
        assert api.error(method, path, status=404)["code"] == "webhook_not_found"
    traces = api.get("/v1/traces?resource_type=webhook&order=asc")["data"]
    assert [(each["action"], each["details"].get("changed")) for each in traces] == [
        ("webhook.created", None),
        ("webhook.updated", ["events"]),
        ("webhook.updated", ["is_active"]),
        ("webhook.updated", ["url"]),
        ("webhook.deleted", None),
    ]
    assert traces[0]["details"] == {
        "address": "https://example.org",
        "events": ["session.created", "session.frozen"],
        "is_active": True,
    }


BAD_URLS = """
    example.org/hook  //example.org/hook  ftp://example.org/  file:///etc/passwd  gopher://example.org/  https://
    http:///path  https://user@example.org/  https://user:password@example.org/  https://:pw@example.org/
    https://@example.org/  http://[::1/  http://[example.org]/  http://example.org:99999/  http://example.org:x/
    http://example.org:0/  https://exämple.org/  https://example.org/sn☃wman  javascript:alert(1)
    http://localhost/  HTTP://LOCALHOST./  http://a.localhost:8080/  http://printer.local/  http://db.internal./
    http://127.0.0.1/  http://127.0.0.1./  http://2130706433/  http://0x7f000001/  http://0177.0.0.1/
    http://127.1/  http://0/  http://0.0.0.0/  http://10.1.2.3/  http://172.16.0.1/  http://192.168.1.1/
    http://169.254.169.254/latest/meta-data  http://100.64.0.1/  http://224.0.0.1/  http://255.255.255.255/
    http://[::1]/  http://[::]/  http://[::127.0.0.1]/  http://[::ffff:127.0.0.1]/  http://[::ffff:7f00:1]/
    http://[64:ff9b::127.0.0.1]/  http://[2002:7f00:1::]/  http://[fe80::1]/  http://[fe80::1%25eth0]/
    http://[fc00::1]/  http://[fd12::1]/  http://[fec0::1]/  http://[ff02::1]/  http://[2001:db8::1]/
""".split()  # noqa: SIM905


def test_urls_that_no_webhook_may_have(api):
    path = f"/v1/webhooks/{make(api)['id']}"
    for url in (
        *BAD_URLS,
        "",
        " ",
        "http://exam ple.org/",
        "http://example.org/\n",
        "http://example.org/\t",
        "http://a/" + 2100 * "x",
    ):
        for method, where in (("POST", "/v1/webhooks"), ("PATCH", path)):
            error = api.error(method, where, BODY | {"url": url}, status=400)
            assert error["param"] == "url", url
    assert Webhook.objects.get().url == URL


@pytest.mark.parametrize(
    "url",
    [
        "HtTpS://Example.ORG:8443/Path?query=%20#part",
        "http://8.8.8.8/",
        "http://[2606:4700:4700::1111]:8080/",
        "http://xn--exmple-cua.org/",
        "https://example.org.",
        "http://db/",
    ],
)
def test_urls_that_a_webhook_may_have_stay_as_they_were_given(api, url):
    assert make(api, url=url)["url"] == url


def test_private_networks_may_be_allowed(api, settings):
    settings.WEBHOOK_PRIVATE_NETWORKS = True
    for url in ("http://127.0.0.1:9/", "http://localhost/", "http://[::1]/"):
        assert make(api, url=url)["url"] == url
    api.error("POST", "/v1/webhooks", BODY | {"url": "ftp://127.0.0.1/"}, status=400)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"url": None}, "url"),
        ({"url": 5}, "url"),
        ({"events": None}, "events"),
        ({"events": []}, "events"),
        ({"events": "session.created"}, "events"),
        ({"events": ["session.created", "session.exploded"]}, "events"),
        ({"events": ["*"]}, "events"),
        ({"events": [None]}, "events"),
        ({"secret": "short"}, "secret"),
        ({"secret": "x" * 256}, "secret"),
        ({"secret": "nul\x00 in it"}, "secret"),
        ({"secret": 12345678}, "secret"),
    ],
)
def test_fields_that_are_wrong(api, fields, param):
    error = api.error("POST", "/v1/webhooks", BODY | fields, status=400)
    assert (error["param"] or "").split(".")[0] == param
    assert not Webhook.objects.exists()


def test_a_change_that_is_wrong_changes_nothing(api):
    path = f"/v1/webhooks/{make(api)['id']}"
    for body, param in (
        ({"is_active": False, "events": ["nothing"]}, "events"),
        ({"is_active": False, "events": []}, "events"),
        ({"is_active": "no"}, "is_active"),
        ({"is_active": 0}, "is_active"),
    ):
        assert (api.error("PATCH", path, body, status=400)["param"] or "").split(".")[0] == param
    assert api.get(path)["is_active"] is True


def test_it_takes_the_scope_to_manage_keys(api, with_scopes, agent):
    path = f"/v1/webhooks/{make(api)['id']}"
    everything_else = with_scopes("sessions:read", "sessions:write", "traces:read", "incident:manage")
    for key in (agent, everything_else):
        for method, where in (
            ("POST", "/v1/webhooks"),
            ("GET", "/v1/webhooks"),
            ("GET", path),
            ("PATCH", path),
            ("DELETE", path),
        ):
            error = key.error(method, where, BODY if method == "POST" else None, status=403)
            assert (error["code"], error["required_scope"]) == ("permission_denied", "keys:manage")
    assert len(with_scopes("keys:manage").get("/v1/webhooks")["data"]) == 1


def test_a_project_has_so_many_webhooks_and_no_more(api, monkeypatch):
    monkeypatch.setattr("statebase_site.webhooks.actions.WEBHOOKS_MOST", 2)
    first = make(api)["id"]
    make(api)
    assert "at most 2" in api.error("POST", "/v1/webhooks", BODY, status=400)["message"]
    api("DELETE", f"/v1/webhooks/{first}", status=204)
    make(api)


def test_a_repeated_request_is_answered_again_and_makes_nothing(api, project):
    answers = [api("POST", "/v1/webhooks", BODY, status=201, Idempotency_Key="k-1") for _ in range(2)]
    made = [answer.json() for answer in answers]
    assert [answer.headers.get("Idempotency-Replayed") for answer in answers] == [None, "true"]
    assert made[0] == made[1]  # the secret as well: whoever lost the answer needs it
    path = f"/v1/webhooks/{made[0]['id']}"
    paused = [api("PATCH", path, {"is_active": False}, status=200, Idempotency_Key="k-2") for _ in range(2)]
    assert [answer.headers.get("Idempotency-Replayed") for answer in paused] == [None, "true"]
    api.json("PATCH", path, {"is_active": True, "events": ["turn.added"]})
    # What it says is what was made then, whatever came after.
    assert api.json("POST", "/v1/webhooks", BODY, status=201, Idempotency_Key="k-1") == made[0]
    assert api.json("PATCH", path, {"is_active": False}, Idempotency_Key="k-2") == paused[0].json()
    assert api.get(path)["is_active"] is True
    conflict = api.error(
        "POST", "/v1/webhooks", BODY | {"secret": "another one"}, status=409, Idempotency_Key="k-1"
    )
    assert conflict["code"] == "idempotency_conflict"
    assert len(api.get("/v1/traces?action=webhook.created")["data"]) == 1
    other = Api(factories.api_key(project)[1])
    assert other.json("POST", "/v1/webhooks", BODY, status=201, Idempotency_Key="k-1")["id"] != made[0]["id"]
    api("DELETE", path, status=204)
    gone = api.error("POST", "/v1/webhooks", BODY, status=404, Idempotency_Key="k-1")
    assert gone["code"] == "webhook_not_found"


def test_the_secret_stands_in_one_column_and_in_no_log(api, caplog):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("django.db.backends").setLevel(logging.INFO)  # it logs every value on purpose
    secret = make(api, secret="zq-the-secret", events=list(Event))["secret"]
    own = make(api, events=list(Event))["secret"]
    api.error("POST", "/v1/webhooks", BODY | {"secret": secret, "events": ["nothing"]}, status=400)
    api("POST", "/v1/webhooks", BODY | {"secret": secret}, status=201, Idempotency_Key="k-1")
    api.session({"a": 1})
    assert where_found(secret, own) == {"webhooks_webhook.secret"}
    assert Delivery.objects.exists()
    assert secret not in caplog.text
    assert own not in caplog.text
    for each in api.get("/v1/webhooks")["data"]:
        api("DELETE", f"/v1/webhooks/{each['id']}", status=204)
    assert where_found(secret, own) == set()
    # Of a URL only the host is told to readers of traces.
    assert where_found("T0KEN-in-the-path") == {"webhooks_webhook.url", "access_idempotentanswer.made"}
