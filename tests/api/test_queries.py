"""How many queries the hot paths take: none may be added unseen."""

import pytest
from django.db import connection


@pytest.fixture
def queries_of(monkeypatch):
    """The statements of a call, without those that only open and end a transaction."""

    def count(call):
        found = []

        def note(execute, sql, params, many, context):
            if not sql.startswith(("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")):
                found.append(sql)
            return execute(sql, params, many, context)

        with connection.execute_wrapper(note):
            call()
        return found

    return count


def test_an_update_reads_the_session_and_its_state_and_writes_once(api, queries_of):
    path = api.session_with_versions(2)
    made = queries_of(lambda: api.json("PATCH", f"{path}/state", {"state": {"b": 3}}))
    # Lock, read, and three writes, which on PostgreSQL are one statement.
    assert len(made) == (3 if connection.vendor == "postgresql" else 5), made


def test_a_list_takes_as_many_queries_for_eight_rows_as_for_three(api, queries_of):
    path = api.session({"n": 0})
    for number in range(1, 5):
        api.json("PATCH", f"{path}/state", {"state": {"n": number}, "reasoning": "Counting"})
        turn = {"input": "a", "output": "b", "state_before": {"n": 5}, "state_after": {"m": number}}
        api.json("POST", f"{path}/turns", turn, status=201)
        api.session({"n": number})
    for address in ("/v1/sessions", f"{path}/versions", f"{path}/turns", f"{path}/traces", "/v1/traces"):
        three = queries_of(lambda address=address: api.get(f"{address}?limit=3"))
        eight = queries_of(lambda address=address: api.get(f"{address}?limit=8"))
        assert len(eight) <= len(three) + 1, (address, eight)
        assert len(three) <= 8, (address, three)
