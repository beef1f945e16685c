"""Each route demands its scope, after the route and before the body (contract 3, 9)."""

import pytest

from statebase_site.access import scopes

READ, WRITE, DELETE, TRACES, KEYS, MANAGE, MEMORIES, REMEMBER = (
    scopes.SESSIONS_READ,
    scopes.SESSIONS_WRITE,
    scopes.SESSIONS_DELETE,
    scopes.TRACES_READ,
    scopes.KEYS_MANAGE,
    scopes.INCIDENT_MANAGE,
    scopes.MEMORY_READ,
    scopes.MEMORY_WRITE,
)
INCIDENT = "/v1/incidents/INCIDENT-7"
S = "/v1/sessions/sess_unknown"
ROUTES = (
    ("POST", "/v1/sessions", WRITE),
    ("GET", "/v1/sessions", READ),
    ("GET", S, READ),
    ("PATCH", S, WRITE),
    ("DELETE", S, DELETE),
    ("POST", f"{S}/fork", WRITE),
    ("POST", f"{S}/context", READ),
    ("GET", f"{S}/context", READ),
    ("GET", f"{S}/state", READ),
    ("PATCH", f"{S}/state", WRITE),
    ("PUT", f"{S}/state", WRITE),
    ("POST", f"{S}/state", WRITE),
    ("POST", f"{S}/state/rollback", WRITE),
    ("POST", f"{S}/rollback", WRITE),
    ("POST", f"{S}/freeze", WRITE),
    ("POST", f"{S}/resume", WRITE),
    ("POST", f"{S}/unfreeze", WRITE),
    ("GET", f"{S}/versions", READ),
    ("GET", f"{S}/state/versions", READ),
    ("GET", f"{S}/state/history", READ),
    ("GET", f"{S}/versions/0", READ),
    ("GET", f"{S}/state/versions/0", READ),
    ("POST", f"{S}/turns", WRITE),
    ("GET", f"{S}/turns", READ),
    ("GET", f"{S}/turns/turn_x", READ),
    ("GET", "/v1/turns/turn_x", READ),
    ("GET", "/v1/traces", TRACES),
    ("POST", "/v1/traces", WRITE),
    ("GET", "/v1/traces/trace_x", TRACES),
    ("GET", f"{S}/traces", TRACES),
    ("GET", "/v1/traces/sessions/sess_unknown/traces", TRACES),
    ("GET", f"{S}/diff", READ),
    ("GET", "/v1/diff", READ),
    ("GET", f"{S}/rollback/preview", READ),
    ("GET", f"{S}/export", READ),
    ("GET", f"{S}/lineage", READ),
    ("GET", f"{S}/verify", READ),
    ("GET", f"{S}/history", READ),
    ("POST", "/v1/entities", WRITE),
    ("GET", "/v1/entities", READ),
    ("GET", "/v1/entities/ent_x", READ),
    ("PUT", "/v1/entities/ent_x", WRITE),
    ("DELETE", "/v1/entities/ent_x", WRITE),
    ("POST", f"{S}/memories", REMEMBER),
    ("GET", f"{S}/memories", MEMORIES),
    ("POST", f"{S}/memories/search", MEMORIES),
    *(
        (method, f"{memories}{path}", scope)
        for memories in ("/v1/memories", "/v1/memory")
        for method, path, scope in (
            ("POST", "", REMEMBER),
            ("GET", "", MEMORIES),
            ("POST", "/search", MEMORIES),
            ("GET", "/search", MEMORIES),
            ("GET", "/mem_x", MEMORIES),
            ("PATCH", "/mem_x", REMEMBER),
            ("PUT", "/mem_x", REMEMBER),
            ("DELETE", "/mem_x", REMEMBER),
        )
    ),
    ("GET", "/v1/dashboard/stats", READ),
    ("POST", "/v1/keys", KEYS),
    ("GET", "/v1/keys", KEYS),
    ("DELETE", "/v1/keys/key_x", KEYS),
    ("POST", "/v1/dashboard/keys", KEYS),
    ("GET", "/v1/dashboard/keys", KEYS),
    ("DELETE", "/v1/dashboard/keys/key_x", KEYS),
    ("POST", "/v1/webhooks", KEYS),
    ("GET", "/v1/webhooks", KEYS),
    ("GET", "/v1/webhooks/wh_x", KEYS),
    ("PATCH", "/v1/webhooks/wh_x", KEYS),
    ("DELETE", "/v1/webhooks/wh_x", KEYS),
)
# These need other scopes, too: all data of a user is more than their sessions.
USER_ROUTES = (("GET", "/v1/users/ann/export", READ), ("DELETE", "/v1/users/ann", DELETE))
# Here `incident:manage` does as well (contract 16).
INCIDENT_ROUTES = (
    ("POST", "/v1/incidents", WRITE),
    *(("POST", f"{INCIDENT}/{act}", WRITE) for act in ("freeze", "pin", "note", "sessions", "severity")),
    ("POST", "/v1/scenarios/scn_x/fork", WRITE),
    ("POST", "/v1/scenarios/scn_x/runs", WRITE),
    ("GET", "/v1/incidents", READ),
    *(
        ("GET", f"{INCIDENT}{part}", READ)
        for part in ("", "/gates", "/timeline", "/scenarios", "/postmortem.md", "/bundle.json")
    ),
    ("GET", "/v1/scenarios", READ),
    ("GET", "/v1/scenarios/scn_x", READ),
    ("GET", "/v1/scenarios/scn_x/test.py", READ),
)
MANAGING_ROUTES = (
    *(
        ("POST", f"{INCIDENT}/{act}", MANAGE)
        for act in (
            *("divergence", "rollback", "effects", "correction", "resume", "prevention", "followups"),
            *("followups/1/done", "scenarios", "review/approve", "commander", "exempt"),
            *("resolve", "close", "reopen", "decline", "merge"),
        )
    ),
    ("PATCH", f"{INCIDENT}/followups/1", MANAGE),
    ("PATCH", f"{INCIDENT}/review", MANAGE),
    ("POST", f"{INCIDENT}/override", scopes.FULL),
)


EVERY_ROUTE = ROUTES + USER_ROUTES + INCIDENT_ROUTES + MANAGING_ROUTES


@pytest.mark.parametrize(("method", "path", "scope"), EVERY_ROUTE)
def test_a_route_demands_its_scope_before_it_reads_the_body(with_scopes, method, path, scope):
    instead = MANAGE if (method, path, scope) in INCIDENT_ROUTES else None
    lacking = with_scopes(*(each for each in scopes.EVERY_SCOPE if each not in (scope, instead, scopes.FULL)))
    error = lacking.error(method, path, b"{broken", status=403)
    assert (error["code"], error["type"]) == ("permission_denied", "permission_error")
    assert error["required_scope"] == scope
    for enough in filter(None, (scope, instead)):
        if (method, path, scope) in USER_ROUTES:
            assert with_scopes(enough).error(method, path, {}, status=403)["required_scope"] != scope
            continue
        assert with_scopes(enough)(method, path, {}).status_code in (200, 400, 404)


def test_the_routes_above_are_all_there_are(api):
    from statebase_site import urls  # noqa: F401 - only then the routers are complete
    from statebase_site.api import api as ninja

    known = {
        (method, "/v1" + path.replace("{session_id}", "sess_unknown"))
        for _, router in ninja._routers
        for path, view in router.path_operations.items()
        for operation in view.operations
        for method in operation.methods
    }
    for name, value in (
        ("turn_id", "turn_x"),
        ("trace_id", "trace_x"),
        ("number", "0"),
        ("incident_id", "INCIDENT-7"),
        ("scenario_id", "scn_x"),
        ("n", "1"),
        ("key_id", "key_x"),
        ("webhook_id", "wh_x"),
        ("memory_id", "mem_x"),
        ("entity_id", "ent_x"),
        ("path:user_id", "ann"),
    ):
        known = {(method, path.replace(f"{{{name}}}", value)) for method, path in known}
    listed = {(method, path) for method, path, _ in EVERY_ROUTE}
    assert sorted(known ^ listed) == []


def test_401_comes_before_404_and_405_before_403(api, with_scopes):
    api.key = "sb_unknown"
    for method, path in (("GET", "/v1/nowhere"), ("PUT", "/v1/sessions"), ("POST", "/v1/sessions")):
        answer = api(method, path, b"{broken", status=401)
        assert "X-RateLimit-Limit" not in answer
    nothing = with_scopes(scopes.KEYS_MANAGE)
    assert nothing.error("GET", "/v1/nowhere", status=404)["code"] == "resource_not_found"
    assert nothing("PUT", "/v1/sessions", status=405)["Allow"]
