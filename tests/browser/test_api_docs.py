"""The page to read and try the API, in a real browser under the policy that every page has."""

import pytest
from playwright.sync_api import expect

from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_route_is_tried_with_a_key_of_ones_own(browse):
    project = factories.project()
    made = factories.session(factories.full_key(project), agent_id="travel-agent")
    page = browse("/api/docs")
    page.locator(".auth-wrapper").get_by_role("button", name="Authorize").click()
    asked = page.locator(".modal-ux")
    asked.get_by_label("Value:").first.fill(factories.api_key(project)[1])
    asked.get_by_role("button", name="Apply credentials").first.click()
    asked.get_by_role("button", name="Close").first.click()
    route = page.locator("#operations-sessions-sessions_list_sessions")
    route.locator(".opblock-summary-control").click()
    route.get_by_role("button", name="Try it out").click()
    route.get_by_role("button", name="Execute").click()
    expect(route.locator(".live-responses-table")).to_contain_text(made.public_id)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # The library has a dark dress of its own, which follows ours.
    heading = page.locator(".api-docs .title").first
    for scheme, classes, lightness in (("dark", 1, range(150, 256)), ("light", 0, range(100))):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator("html.dark-mode")).to_have_count(classes)
        assert int(heading.evaluate("each => getComputedStyle(each).color.match(/[0-9]+/)[0]")) in lightness


def test_without_a_script_it_says_where_the_document_is(browse):
    page = browse("/api/docs", java_script_enabled=False)
    expect(page.locator("#swagger-ui")).to_contain_text("This page needs JavaScript")
