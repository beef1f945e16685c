"""Who is a member of one project finds nothing of another on any page there is."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from statebase_site.base import clock
from statebase_site.webhooks.models import Delivery
from tests import factories
from tests.api.conftest import Api
from tests.contracts.test_urls import OPEN_TO_ALL
from tests.twins import grow, shown, signed_in

START = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
LATER = START + timedelta(hours=2)
_ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")
LEAD_TO_A_LIST = {"sessions:delete-memory", "incidents:of-session"}
"""Where nothing is there, these show the list in which it is not."""
NUMBERS = {"number"}
"""Arguments that count inside of what another argument names."""


def routes(resolver=None, prefix="", namespace=""):
    """(name, route) of every page that asks for a sign-in."""
    for entry in (resolver or get_resolver()).url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            if entry.namespace != "api":
                yield from routes(entry, route, f"{entry.namespace}:" if entry.namespace else namespace)
        elif isinstance(entry, URLPattern) and f"{namespace}{entry.name}" not in OPEN_TO_ALL:
            yield f"{namespace}{entry.name}", f"/{route}"


ROUTES = [*routes(), ("overview", "/")]


def grown(name, incidents):
    """A project with everything, its ids by the arguments of pages, and the browser of its admin."""
    project = factories.project(name)
    twin = grow(Api(factories.api_key(project)[1]), incidents)
    member = factories.membership(project, "admin", name.lower())
    event = Delivery.objects.filter(webhook__project=project).first()
    more = {"reference": twin.names["incident_id"], "member_id": str(member.pk), "event_id": event.event_id}
    return twin.names | more, signed_in(member)


def fill(route, names):
    return _ARGUMENT.sub(lambda found: names[found[1]], route)


def without(name, text):
    """A text in which an id that was asked for is named by its place only."""
    if name.isdecimal():  # a short number stands in many other places
        return text.replace(f"/{name}/", "/ID/").replace(f"member {name} ", "member ID ")
    return text.replace(name, "ID")


def unknown(name):
    return "999999" if name.isdecimal() else "INCIDENT-9" if "-" in name else name[:-3] + "9zz"


@pytest.mark.django_db
def test_a_page_of_another_project_is_one_that_never_existed():
    with clock.at(START):
        (theirs, _), (mine, browser) = grown("A", 3), grown("B", 1)
    tried = 0
    with clock.at(LATER):
        for page, route in ROUTES:
            for argument in set(_ARGUMENT.findall(route)) - NUMBERS:
                foreign = theirs[argument]
                statuses = set()
                for method in ("get", "post"):
                    answers = []
                    for name in (foreign, unknown(foreign)):
                        answer = getattr(browser, method)(fill(route, mine | {argument: name}))
                        if answer.status_code == 302 and page in LEAD_TO_A_LIST:
                            answer = browser.get(answer["Location"])
                        answers.append((answer.status_code, without(name, shown(answer))))
                    assert answers[0] == answers[1], (method, page, argument)
                    statuses.add(answers[0][0])
                expected = {200, 405} if page in LEAD_TO_A_LIST else {404, 405}
                assert statuses != {405}, (page, argument)
                assert statuses <= expected, (page, argument, statuses)
                tried += 1
    assert tried > 50


@pytest.mark.django_db
def test_no_page_tells_of_another_project():
    """All pages stay as they are, whatever happens elsewhere, also where one asks for the other's ids."""
    with clock.at(START):
        mine, browser = grown("B", 1)
    with clock.at(LATER):
        browser.get(fill("/incidents/<reference>/", mine))  # takes notice of what happened to its sessions
        answers = {address: browser.get(address) for address in (fill(route, mine) for _, route in ROUTES)}
        before = {address: shown(answer) for address, answer in answers.items() if answer.status_code == 200}
        assert len(before) > 30
        with clock.at(START + timedelta(hours=1)):
            theirs, _ = grown("A", 3)
        changed = [address for address in before if shown(browser.get(address)) != before[address]]
        assert changed == []
        for address in before:
            asked = [
                shown(browser.get(f"{address}?{urlencode(query)}"))
                for query in (
                    asking_for(theirs),
                    asking_for({name: unknown(it) for name, it in theirs.items()}),
                )
            ]
            for name, foreign in theirs.items():
                if "_" in foreign:
                    asked = [
                        text.replace(it, name)
                        for text, it in zip(asked, (foreign, unknown(foreign)), strict=True)
                    ]
            assert asked[0] == asked[1], address


def asking_for(names):
    """Words of addresses that may hold an id, each with one of its kind."""
    session, trace = names["session_id"], names["trace_id"]
    words = dict.fromkeys(("session", "session_id", "q", "path", "agent", "user"), session)
    places = {"left": f"{session}:0", "right": f"{session}:1", "after": session, "before": trace}
    return words | places | {"trace": trace, "turn_id": names["turn_id"]}


@pytest.mark.django_db
def test_another_project_can_not_be_chosen():
    factories.project("A")
    browser = signed_in(factories.membership(factories.project("B")))
    for slug in ("a", "nothing"):
        assert browser.get(f"/sessions/?project={slug}").status_code == 404
    answers = [browser.post("/use-project/", {"project": slug}) for slug in ("a", "nothing")]
    assert answers[0].status_code == answers[1].status_code != 302
