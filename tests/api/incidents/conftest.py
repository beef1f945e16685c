"""An incident about one session, and everything that can be done to it, by the name of its route."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.http import HttpResponse

from statebase_site.access import authentication
from tests import factories
from tests.api.conftest import Api

REASON = "The provider says so"
SCENARIO = {"name": "Refund twice", "fork_version": 0, "predicate": "refunds == `1`"}
FAULT = {"kind": "state_patch", "patch": {"refunds": 9}}


@dataclass
class Case:
    """A session whose version 2 is bad, another one, and an S2 incident about the first."""

    api: Api
    session_id: str
    other_id: str
    turn_id: str
    path: str

    @property
    def reference(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def session(self) -> str:
        return f"/v1/sessions/{self.session_id}"

    def read(self) -> Any:
        return self.api.get(self.path)

    def steps(self) -> dict[str, str]:
        """The steps of the session."""
        return self.read()["sessions"][0]["steps"]

    def timeline(self) -> list[Any]:
        return self.api.get(f"{self.path}/timeline?limit=100")["data"]

    def unmet(self, to: str = "resolved") -> list[str]:
        return [each["code"] for each in self.api.get(f"{self.path}/gates?to={to}")["unmet"]]

    def act(self, route: str, by: Api | None = None, **headers: str) -> HttpResponse:
        """Do one of ACTS after what it needs."""
        for needed in ACTS[route][0]:
            self.act(needed)
        method, body = self.request(route)
        return (by or self.api)(method, self.address(route), body, status=STATUS.get(route, 200), **headers)

    def address(self, route: str) -> str:
        return self.path + route

    def request(self, route: str) -> tuple[str, dict[str, Any]]:
        """Method and body of one of ACTS, with this case's names in it."""
        names = {"SESSION": self.session_id, "OTHER": self.other_id, "TURN": self.turn_id}
        _, method, body = ACTS[route]
        return method, {
            name: names.get(value, value) if isinstance(value, str) else value for name, value in body.items()
        }

    def override_all(self, to: str) -> None:
        """Pass over whatever is missing."""
        for code in dict.fromkeys(self.unmet(to)):
            if code != "not_resolved":
                body = {"gate": code, "reason": REASON}
                self.api.json("POST", f"{self.path}/override", body)


ACTS: dict[str, tuple[tuple[str, ...], str, dict[str, Any]]] = {
    "/freeze": ((), "POST", {"traffic": "human_queue", "traffic_note": "Call 7."}),
    "/pin": ((), "POST", {"session_id": "SESSION", "versions": [1, 2]}),
    "/note": ((), "POST", {"text": "Called the customer."}),
    "/sessions": ((), "POST", {"session_id": "OTHER"}),
    "/severity": ((), "POST", {"severity": "S1"}),
    "/divergence": (
        (),
        "POST",
        {"session_id": "SESSION", "divergence_version": 2, "last_good_version": 1},
    ),
    "/rollback": (("/divergence",), "POST", {"session_id": "SESSION"}),
    "/effects": (
        ("/rollback",),
        "POST",
        {"session_id": "SESSION", "turn_id": "TURN", "disposition": "compensated"},
    ),
    "/correction": ((), "POST", {"session_id": "SESSION", "text": "Paid it back."}),
    "/resume": (("/freeze",), "POST", {}),
    "/prevention": ((), "POST", {"text": "Nobody asked.", "no_validation": True}),
    "/followups": ((), "POST", {"text": "Check amounts", "kind": "validation"}),
    "/followups/1": (("/followups",), "PATCH", {"owner": "maria", "due": "2026-02-01"}),
    "/followups/1/done": (("/followups",), "POST", {}),
    "/scenarios": ((), "POST", {**SCENARIO, "session_id": "SESSION", "fault": FAULT}),
    "/review": ((), "PATCH", {"failure_mode": "state_drift", "lessons": "Ask first."}),
    "/commander": ((), "POST", {"name": "maria"}),
    "/exempt": ((), "POST", {"session_id": "SESSION", "step": "rollback", "reason": REASON}),
    "/override": ((), "POST", {"gate": "prevention", "reason": REASON}),
    "/decline": ((), "POST", {"reason": REASON}),
    "/merge": ((), "POST", {"into": "INCIDENT-2"}),
    "/reopen": (("/decline",), "POST", {"reason": REASON}),
}
STATUS = {"/followups": 201, "/scenarios": 201}


@pytest.fixture(scope="module")
def project_and_key(module_db):
    """What the tests of a file share: a project and a full key of it."""
    authentication._remembered.clear()  # another file's keys may have had the same numbers
    project = factories.project()
    return project, factories.api_key(project)[1]


@pytest.fixture
def project(project_and_key, remembering):
    return project_and_key[0]


@pytest.fixture
def api(project_and_key, remembering):
    return Api(project_and_key[1])


@pytest.fixture
def filed(api):
    """Files an incident; its path."""

    def file(**fields: Any) -> str:
        fields.setdefault("title", "Refunded twice")
        return f"/v1/incidents/{api.json('POST', '/v1/incidents', fields, status=201)['id']}"

    return file


@pytest.fixture(scope="module")
def known(project_and_key):
    project, key = project_and_key
    api = Api(key)
    factories.membership(project, "responder", "maria")
    session = api.session({"refunds": 1})
    call = {"type": "tool_call", "content": "refund", "tool_metadata": {"name": "refund", "arguments": {}}}
    for number in (1, 2):
        api.json("PATCH", f"{session}/state", {"state": {"refunds": number, "step": number}})
    turn = api.json("POST", f"{session}/turns", {"input": call, "output": "done"}, status=201)
    session_id = session.rpartition("/")[2]
    other_id = api.session({"refunds": 5}).rpartition("/")[2]
    about = {"title": "Refunded twice", "severity": "S2", "sessions": [session_id]}
    path = f"/v1/incidents/{api.json('POST', '/v1/incidents', about, status=201)['id']}"
    api.json("POST", "/v1/incidents", {"title": "Something else"}, status=201)
    return Case(api, session_id, other_id, turn["id"], path)


@pytest.fixture
def case(known, api):
    return replace(known, api=api)
