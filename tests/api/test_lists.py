"""Lists: envelope, limit, order, cursor, filters (contract section 2)."""

from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import quote

import pytest

from sessions_app.payloads import answers
from statebase_site.base import clock, json
from tests.api.shapes import assert_shape

ADDRESSES = ("/v1/sessions", "/v1/traces", "{path}/versions", "{path}/turns", "{path}/traces")


@pytest.fixture
def path(api):
    """The path of a session with some of everything; two more sessions beside it."""
    path = api.session_with_versions(3)
    for number in range(3):
        api.json("POST", f"{path}/turns", {"input": f"q{number}", "output": "a"}, status=201)
    api.session()
    api.session()
    return path


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages_neither_repeat_nor_skip(api, path, order):
    for address in ADDRESSES:
        assert_pages_are_whole(api, address.format(path=path), order)


def assert_pages_are_whole(api, address, order):
    name = "version" if address.endswith("versions") else "id"
    whole = api.get(f"{address}?limit=100&order={order}")
    assert whole["has_more"] is False
    ids = [str(row[name]) for row in whole["data"]]
    assert (whole["object"], whole["first_id"], whole["last_id"]) == ("list", ids[0], ids[-1])
    found, cursor = [], ""
    while True:
        page = api.get(f"{address}?limit=2&order={order}{cursor}")
        found += [str(row[name]) for row in page["data"]]
        if not page["has_more"]:
            break
        cursor = f"&starting_after={page['last_id']}"
    assert found == ids
    assert len(set(found)) == len(found) >= 3


def test_rows_of_one_moment_are_told_apart(api):
    with clock.at(datetime(2026, 1, 1, tzinfo=UTC)):
        made = [api.session().rpartition("/")[2] for _ in range(5)]
    with clock.at(datetime(2026, 1, 1, 1, tzinfo=UTC)):
        for address, name in (("/v1/sessions", "id"), ("/v1/traces?action=session.created&", "session_id")):
            mark = "?" if address.endswith("sessions") else ""
            found, cursor = [], ""
            for _ in range(5):
                page = api.get(f"{address}{mark}limit=1{cursor}")
                found.append(page["data"][0][name])
                cursor = f"&starting_after={page['last_id']}"
            assert found == made[::-1]


def test_the_orders_that_are_meant_where_none_is_given(api, path):
    assert [row["version"] for row in api.get(f"{path}/versions")["data"]] == [0, 1, 2, 3]
    assert [row["turn_number"] for row in api.get(f"{path}/turns")["data"]] == [3, 2, 1]
    for address in ("/v1/sessions", "/v1/traces"):
        times = [row["created_at"] for row in api.get(address)["data"]]
        assert times == sorted(times, reverse=True)


def test_the_lengths_that_are_meant_where_none_is_given(api):
    path = api.session({"n": 0})
    for number in range(1, 101):
        api.json("PATCH", f"{path}/state", {"state": {"n": number}})
    assert len(api.get(f"{path}/versions")["data"]) == 50
    assert len(api.get(f"{path}/versions?limit=1000")["data"]) == 100
    assert len(api.get(f"{path}/traces")["data"]) == 50
    assert len(api.get("/v1/traces")["data"]) == 20
    assert len(api.get("/v1/traces?limit=99999999999999999999")["data"]) == 100


def test_a_limit_is_an_integer_from_1(api, path):
    for address in ADDRESSES:
        for limit in ("0", "-1", "1.0", "1.5", "ten", "", "1_0", "٣", "true"):
            error = api.error("GET", f"{address.format(path=path)}?limit={quote(limit)}", status=400)
            assert (error["code"], error["param"]) == ("invalid_request", "limit"), (address, limit)


def test_a_cursor_or_order_that_nobody_knows(api, path):
    for address in ADDRESSES:
        address = address.format(path=path)
        for cursor in ("sess_unknown", "-1", "99", "1.5", "a" * 300, "%00", "", "%F0%9F%98%80"):
            error = api.error("GET", f"{address}?starting_after={cursor}", status=400)
            assert error["param"] == "starting_after", (address, cursor)
        assert api.error("GET", f"{address}?order=up", status=400)["param"] == "order", address


def test_a_turn_of_another_session_is_no_cursor(api, path):
    other = api.session()
    turn = api.json("POST", f"{other}/turns", {"input": "a", "output": "b"}, status=201)
    assert api.error("GET", f"{path}/turns?starting_after={turn['id']}", status=400)


def test_an_empty_list(api):
    assert api.get("/v1/sessions") == {
        "object": "list",
        "data": [],
        "has_more": False,
        "first_id": None,
        "last_id": None,
    }


def test_a_list_shows_whole_objects_with_the_first_500_characters_of_a_reasoning(api):
    path = api.session()
    long = "é" * 600
    turn = {"input": "a", "output": "b", "reasoning": long, "state_after": {"a": 1}}
    api.json("POST", f"{path}/turns", turn, status=201)
    [shown] = api.get(f"{path}/turns")["data"]
    assert_shape(shown, answers.Turn)
    assert shown["reasoning"] == long[:500]
    assert api.get(f"{path}/turns/{shown['id']}")["reasoning"] == long
    shown = api.get(f"{path}/versions")["data"][1]
    assert_shape(shown, answers.StateVersion)
    assert shown["reasoning"] == long[:500]
    assert api.get(f"{path}/versions/1")["reasoning"] == long
    [shown] = api.get(f"{path}/traces?action=turn.added")["data"]
    assert_shape(shown, answers.Trace)
    assert shown["details"]["reasoning"] == long[:500]
    assert api.get(f"/v1/traces/{shown['id']}")["details"]["reasoning"] == long
    assert_shape(api.get("/v1/sessions"), answers.List[answers.Session])


# Filters of sessions


def ids(found):
    return [row["id"] for row in found["data"]]


def test_sessions_by_agent_user_and_freeze(api):
    first = api.session(agent_id="a", user_id="u").rpartition("/")[2]
    second = api.session({"frozen": True}, agent_id="b").rpartition("/")[2]
    for query, expected in (
        ("agent_id=a", [first]),
        ("agent_id=b", [second]),
        ("agent_id=none", []),
        ("user_id=u", [first]),
        ("user_id=u&agent_id=b", []),
        ("frozen=true", [second]),
        ("frozen=false", [first]),
    ):
        assert ids(api.get(f"/v1/sessions?{query}")) == expected, query
    for query in ("frozen=yes", "agent_id=%00", "user_id=a%00b"):
        assert api.error("GET", f"/v1/sessions?{query}", status=400)["param"] == query.partition("=")[0]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, True),
        ({"team": "a"}, True),
        ({"team": "b"}, False),
        ({"n": 1}, True),
        ({"n": 1.0}, False),
        ({"n": True}, False),
        ({"deep": {"y": 2, "x": 1}}, True),
        ({"deep": {"x": 1}}, False),
        ({"team": "a", "none": None}, True),
        ({"missing": None}, False),
        ({"a\x00b": "\x00"}, True),
    ],
)
def test_sessions_by_pairs_of_their_metadata(api, wanted, found):
    metadata = {"team": "a", "n": 1, "deep": {"x": 1, "y": 2}, "none": None, "a\x00b": "\x00"}
    made = api.session(metadata=metadata).rpartition("/")[2]
    api.session()
    answer = api.get(f"/v1/sessions?metadata={quote(json.dumps(wanted))}")
    assert (made in ids(answer)) is found


@pytest.mark.parametrize("text", ["", "x", "[]", '"a"', "null", '{"a":NaN}', '{"a":1,"a":2}', '{"a":1e999}'])
def test_a_metadata_filter_is_a_json_object(api, text):
    assert api.error("GET", f"/v1/sessions?metadata={quote(text)}", status=400)["param"] == "metadata"


def test_rows_by_the_time_they_were_made(api):
    moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
    with clock.at(moment):
        made = api.session(ttl_seconds=2_592_000)
    forms = {
        "iso": lambda at: at.isoformat(),
        "z": lambda at: at.isoformat().replace("+00:00", "Z"),
        "naive": lambda at: at.replace(tzinfo=None).isoformat(),
        "elsewhere": lambda at: at.astimezone(timezone(timedelta(hours=5, minutes=30))).isoformat(),
        "seconds": lambda at: str(int(at.timestamp())),
        "decimal": lambda at: f"{at.timestamp():.3f}",
    }
    session_id = made.rpartition("/")[2]
    with clock.at(moment + timedelta(hours=1)):
        for form in forms.values():
            before, after = (
                quote(form(moment - timedelta(minutes=1))),
                quote(form(moment + timedelta(minutes=1))),
            )
            assert ids(api.get(f"/v1/sessions?created_after={before}&created_before={after}")) == [session_id]
            assert ids(api.get(f"/v1/sessions?created_after={after}")) == []
            assert ids(api.get(f"/v1/sessions?created_before={before}")) == []
            for names in (("created_after", "created_before"), ("start_time", "end_time")):
                found = api.get(f"/v1/traces?{names[0]}={before}&{names[1]}={after}")
                assert [row["action"] for row in found["data"]] == ["session.created"]
                assert api.get(f"/v1/traces?{names[1]}={before}")["data"] == []
        unescaped = (moment - timedelta(minutes=1)).isoformat()
        assert ids(api.get(f"/v1/sessions?created_after={unescaped}")) == [session_id]


@pytest.mark.parametrize("text", ["yesterday", "", "2026-13-01", "9" * 15, "99999999999999999", "%00", "nan"])
def test_a_time_that_cannot_be_read(api, text):
    for address in ("/v1/sessions", "/v1/traces"):
        assert api.error("GET", f"{address}?created_after={text}", status=400)["param"] == "created_after"
    assert api.error("GET", f"/v1/traces?end_time={text}", status=400)["param"] == "end_time"
