"""The OpenAPI document against the running server, by schemathesis: no answer leaves it, none is a 5xx."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import httpx
import pytest

from statebase_site.base import json
from tests.api import openapi_hooks

CONFIGURATION = """
seed = 1
workers = 1
continue-on-failure = true
warnings = false
base-url = "{url}"
hooks = "{hooks}"
headers.X-API-Key = "{key}"
# Random requests of each operation, beside those at the limits of each of its fields.
generation.max-examples = 3
generation.database = "none"
generation.no-shrink = true
phases.examples.enabled = false
phases.stateful.enabled = false
phases.coverage.generation.mode = "positive"
# Ids in answers are not used in requests: among them is that of the key which asks.
phases.coverage.extra-data-sources.responses = false
phases.fuzzing.extra-data-sources.responses = false
# Each method is tried on each route in this process already.
phases.coverage.unexpected-methods = ["QUERY"]
# Whether something can be done depends on more than its fields.
checks.positive_data_acceptance.enabled = false
checks.use_after_free.enabled = false
checks.ensure_resource_availability.enabled = false
checks.negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 413, 423]
"""

SCENARIO = {"fault": {"kind": "state_patch", "patch": {"step": 9}}, "predicate": "step == `9`"}
WEBHOOK = {"url": "https://hooks.invalid/1", "events": ["session.created"]}
FIELDS = (
    SCENARIO | WEBHOOK | {"fork_version": 1, "divergence_version": 3, "last_good_version": 1, "version": 1}
)
"""Values of fields, by their names, that go through more often than random ones."""
STOPPING = ("{session_id}/freeze", "{incident_id}/decline", "{incident_id}/merge")
OF_EACH = 10  # sessions in an incident, others, keys, webhooks

Ids = dict[str, list[Any]]


class Content:
    """A project with something of everything, made over HTTP."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self.key = http.headers["X-API-Key"]
        self.affected: dict[str, str] = {}  # the session of each incident, the waiting one of each scenario

    def get(self, path: str) -> Any:
        answer = self._http.get(path)
        assert answer.is_success, (path, answer.text)
        return answer.json()

    def post(self, path: str, **body: Any) -> Any:
        answer = self._http.post(path, json=body)
        assert answer.is_success, (path, answer.text)
        return answer.json()

    def session(self, user_id: str) -> str:
        """The id of a session with versions, turns, a memory and an entity."""
        made = self.post("/v1/sessions", agent_id="a1", user_id=user_id, initial_state={"step": 0})["id"]
        path = f"/v1/sessions/{made}"
        for number in range(1, 4):
            output = {"type": "tool", "tool": "pay", "status": number}
            self.post(f"{path}/turns", input="Go on", output=output, reasoning="It is due")
            self.post(f"{path}/state", state={"step": number, "items": [number, None, 1.5, {"ä": "€"}]})
        self.post(f"{path}/memories", content="Likes tea", tags=["drinks"])
        self.post("/v1/entities", session_id=made, entity_type="order", entity_id="o1")
        return made

    def incident(self, session_id: str) -> None:
        """An incident with evidence, a follow-up and a scenario; its session is frozen."""
        made = self.post("/v1/incidents", title="Wrong total", severity="S2", sessions=[session_id])["id"]
        self.affected[made] = session_id
        path = f"/v1/incidents/{made}"
        self.post(f"{path}/freeze")
        self.post(f"{path}/divergence", session_id=session_id, divergence_version=3, last_good_version=1)
        self.post(f"{path}/pin", session_id=session_id, versions=[2])
        self.post(f"{path}/followups", text="Check totals")
        made = self.post(f"{path}/scenarios", session_id=session_id, name="Total", fork_version=1, **SCENARIO)
        self.affected[made["id"]] = made["waiting_session_id"]

    def fill(self) -> None:
        """Sessions of several kinds, incidents, keys, webhooks; what is made last is for deletion."""
        self.session("u1")
        self.session("u3")
        for _ in range(OF_EACH):
            self.incident(self.session("u1"))
        for number in range(OF_EACH):
            session_id = self.session("u1")
            self.post("/v1/keys", name=f"Key {number}", scopes=["sessions:read"])
            self.post("/v1/webhooks", **WEBHOOK)
        for number in range(2):
            self.session("u1")
            self.post("/v1/memories", content="To be forgotten")
            self.post("/v1/entities", session_id=session_id, entity_type="bill", entity_id=str(number))

    def ids(self, document: Any) -> Ids:
        """What the parameters of paths may be: each is told by the list at the path before it."""
        found: Ids = {"user_id": ["nobody", "u3", "u1"], "number": [1], "n": [1]}
        for path in document["paths"]:
            for step in re.finditer(r"/\{(\w+)\}", path):
                before = re.sub(r"\{(\w+)\}", lambda name: str(found[name[1]][-1]), path[: step.start()])
                if step[1] not in found:
                    listed = self.get(f"{before}?limit=100")
                    rows = listed["data"] if isinstance(listed, dict) else listed
                    # The key that asks has to last to the end.
                    found[step[1]] = [row["id"] for row in rows if row.get("name") != "Responder"]
        return found


@pytest.fixture
def content(server) -> Iterator[Content]:
    with server.http() as http:
        yield Content(http)


@pytest.mark.slow
def test_no_answer_leaves_the_document(server, content, tmp_path):
    content.fill()
    write_inputs(content, server.url, tmp_path)
    run = subprocess.run(
        # What stands at other addresses is the same code with the same description.
        [sys.executable, "-m", "schemathesis.cli", "run", "openapi.json", "--exclude-tag", "other addresses"],
        cwd=tmp_path,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "140"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert run.returncode == 0, run.stdout


def write_inputs(content: Content, url: str, folder: Path) -> None:
    """The configuration of schemathesis, and the document with examples that lead somewhere."""
    told = CONFIGURATION.format(url=url, key=content.key, hooks=openapi_hooks.__file__)
    (folder / "schemathesis.toml").write_text(told)
    document = content.get("/openapi.json")
    ids = content.ids(document)
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for place, (path, method, operation) in enumerate(operations):
        operation.pop("security", None)  # else each is tried with every mixture of headers with keys
        examples = examples_for(path, method, content, ids, place)
        for parameter in operation.get("parameters", []):
            if parameter["name"] in examples and "schema" in parameter:
                parameter["schema"]["examples"] = [examples[parameter["name"]]]
        for body in operation.get("requestBody", {}).get("content", {}).values():
            name = body["schema"]["$ref"].rpartition("/")[2]
            body["schema"] = deepcopy(document["components"]["schemas"][name])
            for field, schema in body["schema"]["properties"].items():
                if field in examples:
                    schema["examples"] = [examples[field]]
    (folder / "openapi.json").write_bytes(json.render(document))


def examples_for(path: str, method: str, content: Content, ids: Ids, place: int) -> dict[str, Any]:
    """What the fields of an operation may name; each operation takes another of what there is.

    The first two of everything are for deletion, the last is the one whose parts are known, and what is
    stopped or ended is nobody else's.
    """
    names = re.findall(r"\{(\w+)\}", path)
    if method == "delete":
        return {name: ids[name][place % 2] for name in names}
    found = {name: values[-1] for name, values in ids.items()}
    if path.endswith(STOPPING):
        found[names[0]] = ids[names[0]][-2 - [path.endswith(end) for end in STOPPING].index(True)]
    elif len(names) == 1:
        found |= {name: _one_of(values, place) for name, values in ids.items()}
    found["session_id"] = content.affected.get(found[names[0]] if names else "", found["session_id"])
    found |= {"into": ids["incident_id"][0], "sessions": [found["session_id"]]}
    return FIELDS | found | {side: f"{ids['session_id'][-1]}:{n}" for n, side in enumerate(("left", "right"))}


def _one_of(values: list[Any], place: int) -> Any:
    kept = values[2 : OF_EACH - 2] or values
    return kept[place % len(kept)]
