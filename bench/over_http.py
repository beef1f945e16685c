"""The same update as an agent makes it: PATCH of the state over a kept-alive connection."""

import http.client
import json
import time


def create_session(port: int, key: str, state: dict) -> str:
    """Make a session with `state`; returns its id."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = json.dumps({"agent_id": "bench", "initial_state": state})
    connection.request("POST", "/v1/sessions", body, {"X-API-Key": key, "Content-Type": "application/json"})
    answer = connection.getresponse()
    made = json.loads(answer.read())
    if answer.status != 201:
        raise RuntimeError(f"creating a session answered {answer.status}: {made}")
    return made["id"]


def update_for(port: int, key: str, session_id: str, seconds: float) -> int:
    """Update one session for `seconds`; returns how many updates were answered with 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"X-API-Key": key, "Content-Type": "application/json"}
    path = f"/v1/sessions/{session_id}/state"
    done = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        body = json.dumps({"state": {"step": done}, "reasoning": "bench"})
        connection.request("PATCH", path, body, headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"an update answered {answer.status}")
        done += 1
    return done
