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


@pytest.fixture(scope="module")
def mine_and_browser(module_db):
    """Project B, which is there before the other."""
    with clock.at(START):
        return grown("B", 1)


@pytest.fixture(scope="module")
def pages_alone(mine_and_browser):
    """What the pages of B show while it is the only project, by their address."""
    mine, browser = mine_and_browser
    with clock.at(LATER):
        browser.get(fill("/incidents/<reference>/", mine))  # takes notice of what happened to its sessions
        answers = {address: browser.get(address) for address in (fill(route, mine) for _, route in ROUTES)}
    return {address: shown(answer) for address, answer in answers.items() if answer.status_code == 200}


@pytest.fixture(scope="module")
def theirs(pages_alone):
    """The names of what project A has, made after the pages of B were looked at."""
    with clock.at(START + timedelta(hours=1)):
        return grown("A", 3)[0]


@pytest.fixture
def two(theirs, mine_and_browser, db):
    with clock.at(LATER):
        yield theirs, *mine_and_browser


def test_a_page_of_another_project_is_one_that_never_existed(two):
    theirs, mine, browser = two
    tried = 0
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


def test_no_page_tells_of_another_project(pages_alone, two):
    """All pages stay as they are, whatever happens elsewhere, also where one asks for the other's ids."""
    theirs, _, browser = two
    assert len(pages_alone) > 30
    assert [address for address in pages_alone if shown(browser.get(address)) != pages_alone[address]] == []
    nothings = {name: unknown(it) for name, it in theirs.items()}

    def asked(address, names):
        text = shown(browser.get(f"{address}?{urlencode(asking_for(names))}"))
        for name, each in names.items():
            text = text.replace(each, name) if "_" in each else text
        return text

    for address, alone in pages_alone.items():
        text = asked(address, theirs)
        assert text == alone or text == asked(address, nothings), address


def asking_for(names):
    """Words of addresses that may hold an id, each with one of its kind."""
    session, trace = names["session_id"], names["trace_id"]
    words = dict.fromkeys(("session", "session_id", "q", "path", "agent", "user"), session)
    places = {"left": f"{session}:0", "right": f"{session}:1", "after": session, "before": trace}
    return words | places | {"trace": trace, "turn_id": names["turn_id"]}


def test_another_project_can_not_be_chosen(two):
    _, _, browser = two
    for slug in ("a", "nothing"):
        assert browser.get(f"/sessions/?project={slug}").status_code == 404
    answers = [browser.post("/use-project/", {"project": slug}) for slug in ("a", "nothing")]
    assert answers[0].status_code == answers[1].status_code != 302
