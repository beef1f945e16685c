"""What must hold for every template and stylesheet: colours in one file, nothing inline, errors that help."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.template.loader import get_template
from django.test import RequestFactory

pytestmark = pytest.mark.once

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
STYLES = sorted((ROOT / "static/css").rglob("*.css"))
TOKENS = (ROOT / "static/css/tokens.css").read_text()
ERROR_PAGES = ["400", "403", "403_csrf", "404", "409", "413", "500"]
MEANINGS = "ink muted accent update rollback fork freeze refused added removed changed json-num json-lit"
TEXT_ON = {
    "ground": MEANINGS + " faint",
    "surface": MEANINGS + " faint",
    "sunken": MEANINGS + " faint",
    "accent-soft": MEANINGS + " faint",
    "rollback-soft": "ink rollback",
    "fork-soft": "ink fork",
    "freeze-soft": "ink muted freeze",
    "added-soft": "ink muted added json-num json-lit",
    "removed-soft": "ink muted removed refused json-num json-lit",
    "changed-soft": "ink muted changed added removed json-num json-lit",
    "accent": "on-accent",
    "rollback": "on-strong",
    "freeze": "on-strong",
    "refused": "on-strong",
    "heat-0": "ink",
    "heat-1": "ink muted",
    "heat-2": "ink muted",
}


def relative_name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", TEMPLATES, ids=relative_name)
def test_no_template_needs_what_the_content_security_policy_forbids(path):
    source = re.sub(r"{% comment %}.*?{% endcomment %}|{%.*?%}", "", path.read_text(), flags=re.S)
    assert not re.search(r"\sstyle\s*=", source), "style attribute"
    assert not re.search(r"<style\b", source), "inline style"
    assert not re.search(r"<script\b(?![^>]*\bsrc=)", source), "inline script"
    assert not re.search(r"\s(on[a-z]+|hx-on[\w:-]*)\s*=", source), "inline handler"
    assert "javascript:" not in source
    assert not re.search(r"""hx-[a-z]+=["']js:""", source), "code in an htmx attribute"


@pytest.mark.parametrize("path", TEMPLATES, ids=relative_name)
def test_every_template_compiles_and_sends_its_forms_with_a_token(path):
    get_template(str(path.relative_to(ROOT / "templates")))
    for form in re.findall(r'<form\b[^>]*method="post".*?</form>', path.read_text(), re.S):
        assert "{% csrf_token %}" in form


@pytest.mark.parametrize("path", [path for path in STYLES if path.name != "tokens.css"], ids=relative_name)
def test_colours_stand_in_the_tokens_only(path):
    source = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{}]*\{)|\b(?:rgba?|hsla?|oklch|lab|lch|hwb)\(", source)
    unknown = set(re.findall(r"var\(--([\w-]+)", source)) - set(
        re.findall(r"--([\w-]+)\s*:", TOKENS + source)
    )
    assert not unknown


def test_every_stylesheet_and_script_of_the_base_page_exists():
    source = (ROOT / "templates/base.html").read_text()
    names = re.findall(r"{% static '([^']+)' %}", source)
    assert names
    assert [name for name in names if finders.find(name) is None] == []
    for path in (ROOT / "static/css/components").glob("*.css"):
        assert f"css/components/{path.name}" in names


@pytest.mark.parametrize("name", ERROR_PAGES)
def test_error_pages_need_nothing_and_say_what_to_do(name):
    html = get_template(f"{name}.html").render()  # no request, no database: what broke may be either
    assert html.count("<h1>") == 1
    assert "Go to the overview" in html
    assert re.search(r"Go back|go back|check|Ask|Open the page again|overview", html)


def test_a_reason_from_outside_is_escaped():
    html = get_template("404.html").render({"reason": "<script>\u202e"}, RequestFactory().get("/"))
    assert "&lt;script&gt;" in html
    assert "U+202E" in html


def pairs():
    found = re.findall(r"--([\w-]+):\s*light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", TOKENS)
    for number, theme in ((1, "light"), (2, "dark")):
        colours = {row[0]: row[number] for row in found}
        for ground, texts in TEXT_ON.items():
            for text in texts.split():
                yield pytest.param(colours[text], colours[ground], id=f"{theme}-{text}-on-{ground}")


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("text", "ground"), list(pairs()))
def test_text_can_be_read_in_both_themes(text, ground):
    """WCAG 2.2, 1.4.3: 4.5 : 1 for text."""
    darker, lighter = sorted((luminance(text), luminance(ground)))
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5
