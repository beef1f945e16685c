"""What the import contracts can't see: which functions of Django a layer may use (docs/architecture.md)."""

import ast
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = pytest.mark.once

BASE = Path(settings.BASE_DIR)
NO_PAGES = (
    "django.http",
    "django.shortcuts",
    "django.contrib.messages",
    "django_htmx",
    "django_tables2",
    "ninja",
)
PURE = {
    "sessions_app": [
        "diff",
        "importers",
        "codec.py",
        "chain.py",
        "control_keys.py",
        "errors.py",
        "limits.py",
    ],
    "incidents_app": ["predicate.py", "masking.py", "errors.py", "limits.py", "rules.py", "matrix.py"],
}
INNER = {
    "sessions_app": ["models", "queries", "actions", "store.py", "enums.py", "triggers.py"],
    "incidents_app": ["models", "queries", "actions", "enums.py", "triggers.py"],
}
# Limits know the settings.
KNOWS_DJANGO = {"sessions_app/limits.py"}
WRITERS = {"actions", "store.py", "migrations", "demo"}
WRITES = {
    "bulk_create",
    "bulk_update",
    "_raw_delete",
    "update_or_create",
    "get_or_create",
    "select_for_update",
    "atomic",
}


def sources(*parts):
    for names in parts:
        for app, within in names.items():
            for name in within:
                path = BASE / app / name
                yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def imported(path):
    """The modules that a source file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def relative(path):
    return str(path.relative_to(BASE))


@pytest.mark.parametrize("path", [*sources(PURE, INNER)], ids=relative)
def test_the_inner_layers_know_no_pages(path):
    assert not [name for name in imported(path) if name.startswith(NO_PAGES)]


@pytest.mark.parametrize(
    "path", [each for each in sources(PURE) if relative(each) not in KNOWS_DJANGO], ids=relative
)
def test_the_pure_modules_know_no_django(path):
    assert not [name for name in imported(path) if name.split(".")[0] == "django"]


def others():
    for app in PURE:
        for path in sorted((BASE / app).rglob("*.py")):
            if path.relative_to(BASE / app).parts[0] not in WRITERS:
                yield path


@pytest.mark.parametrize("path", [*others()], ids=relative)
def test_only_actions_and_the_store_write(path):
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    names = {call.attr for call in calls if isinstance(call, ast.Attribute)}
    assert not names & WRITES


def test_no_module_grows_past_what_one_can_read():
    own = [
        path
        for part in ("sessions_app", "incidents_app", "statebase_site", "bench", "tests")
        for path in (BASE / part).rglob("*.py")
    ]
    assert not [
        str(path)
        for path in own
        if path.parent.name != "migrations" and len(path.read_text().splitlines()) > 600
    ]
