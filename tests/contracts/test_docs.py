"""What the documents promise is there, and what is there is in the documents."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from statebase_site.access.scopes import INCIDENT_MANAGE, SESSIONS_READ, SESSIONS_WRITE
from statebase_site.api import api
from statebase_site.openapi import openapi_document

pytestmark = pytest.mark.once

ROOT = Path(settings.BASE_DIR)
API_DOCUMENT = (ROOT / "docs/api.md").read_text()
CONFIGURATION = (ROOT / "docs/configuration.md").read_text()
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_ROW = re.compile(r"^\| ([A-Z, ]+) \| `([^`]+)` \| ([^|]+) \|", re.MULTILINE)


def documented_routes():
    """((method, path), scope) of every row of the table and of the aliases named in it."""
    for line in API_DOCUMENT.splitlines():
        row = _ROW.match(line)
        if row:
            also = re.findall(r"`((?:S|/v1)/[^`?]+)`", line.rpartition("|")[0].partition("also ")[2])
            for path in [row[2], *also]:
                for method in row[1].split(", "):
                    yield (method, re.sub(r"^S\b", "/v1/sessions/{session_id}", path)), row[3].strip("`")


def served_routes():
    """((method, path), scope) of every route of the API; the scope in the words of the document."""
    in_words = {
        (SESSIONS_WRITE, INCIDENT_MANAGE): "report",
        (SESSIONS_READ, INCIDENT_MANAGE): "read",
    }
    for router in api._get_bound_routers():
        for path, view in router.path_operations.items():
            plain = re.sub(r"\{\w+:", "{", path)
            for operation in view.operations:
                (door,) = operation.auth_callbacks
                for method in operation.methods:
                    yield (method, f"/v1{plain}"), in_words.get((door.scope, door.instead), door.scope)


def test_the_api_document_names_exactly_the_routes_there_are_with_their_scopes():
    assert dict(documented_routes()) == dict(served_routes())


def test_the_api_document_names_exactly_the_errors_there_are():
    table = re.findall(r"^\| (\d{3}) \| ([^|]+) \|", API_DOCUMENT, re.MULTILINE)
    named = {int(status): set(re.findall(r"`(\w+)`", codes)) for status, codes in table}
    document = openapi_document(api)
    statuses = {
        answer["$ref"].rpartition("/")[2]: int(status)
        for path in document["paths"].values()
        for operation in path.values()
        for status, answer in operation["responses"].items()
        if "$ref" in answer
    }
    described = {}
    for name, answer in document["components"]["responses"].items():
        schema = answer["content"]["application/json"]["schema"]
        described[statuses[name]] = set(schema["properties"]["error"]["properties"]["code"]["enum"])
    assert named == described


def test_the_configuration_document_names_exactly_the_variables_that_are_read():
    source = "\n".join(path.read_text() for path in (ROOT / "statebase_site").rglob("*.py"))
    read = set(
        re.findall(
            r'(?:env\.\w+|environ\.get|text|number|flag|words)\(\s*"(STATEBASE_\w+|DATABASE_URL)"', source
        )
    )
    named = set(re.findall(r"^\| `(\w+)`", CONFIGURATION, re.MULTILINE))
    assert named == read


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_links_of_a_document_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
        assert "://" in target or (document.parent / target).exists(), target
