"""The floor: what PostgreSQL and a bare driver need for the same write, with nothing else done.

One transaction an update: lock the session, insert the full state as jsonb, insert a trace,
update the session.
"""

import time

import psycopg

TABLES = """
CREATE TABLE floor_session (id bigint PRIMARY KEY, head integer NOT NULL, updated_at timestamptz NOT NULL);
CREATE TABLE floor_version (session_id bigint, number integer, state jsonb NOT NULL, reasoning text,
    created_at timestamptz NOT NULL, PRIMARY KEY (session_id, number));
CREATE TABLE floor_trace (id bigserial PRIMARY KEY, session_id bigint, action text, details jsonb,
    created_at timestamptz NOT NULL);
CREATE INDEX ON floor_trace (session_id, id);
"""


def make_tables(dsn: str, sessions: int) -> None:
    """Create the floor's tables with one row a session."""
    with psycopg.connect(dsn) as connection:
        connection.execute(TABLES)
        for number in range(sessions):
            connection.execute("INSERT INTO floor_session VALUES (%s, 0, now())", [number])


def update_for(dsn: str, session: int, state_text: str, seconds: float) -> int:
    """Update one session for `seconds`; returns how many updates were committed."""
    done = 0
    with psycopg.connect(dsn, autocommit=True, prepare_threshold=1) as connection:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with connection.transaction():
                row = connection.execute(
                    "SELECT head FROM floor_session WHERE id = %s FOR UPDATE", [session]
                ).fetchone()
                assert row is not None
                head = row[0] + 1
                connection.execute(
                    "INSERT INTO floor_version VALUES (%s, %s, %s::jsonb, %s, now())",
                    [session, head, state_text, "bench"],
                )
                connection.execute(
                    "INSERT INTO floor_trace (session_id, action, details, created_at) "
                    "VALUES (%s, 'state.updated', %s::jsonb, now())",
                    [session, '{"version": 1}'],
                )
                connection.execute(
                    "UPDATE floor_session SET head = %s, updated_at = now() WHERE id = %s", [head, session]
                )
            done += 1
    return done
