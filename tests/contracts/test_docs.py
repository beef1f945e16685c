"""What the documents promise is there, and what is there is in the documents."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from statebase_site.api import api

pytestmark = pytest.mark.once

ROOT = Path(settings.BASE_DIR)
API_DOCUMENT = (ROOT / "docs/api.md").read_text()
CONFIGURATION = (ROOT / "docs/configuration.md").read_text()
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_ROW = re.compile(r"^\| ([A-Z, ]+) \| `([^`]+)`", re.MULTILINE)


def documented_routes():
    """(method, path) of every row of the table and of the aliases named in it."""
    for line in API_DOCUMENT.splitlines():
        row = _ROW.match(line)
        if row:
            also = re.findall(r"`((?:S|/v1)/[^`?]+)`", line.rpartition("|")[0].partition("also ")[2])
            for path in [row[2], *also]:
                for method in row[1].split(", "):
                    yield method, re.sub(r"^S\b", "/v1/sessions/{session_id}", path)


def served_routes():
    """(method, path) of every route of the API."""
    for router in api._get_bound_routers():
        for path, view in router.path_operations.items():
            plain = re.sub(r"\{\w+:", "{", path)
            for operation in view.operations:
                for method in operation.methods:
                    yield method, f"/v1{plain}"


def test_the_api_document_names_exactly_the_routes_there_are():
    assert set(documented_routes()) == set(served_routes())


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
