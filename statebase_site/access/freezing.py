"""Which requests stop an agent: those are never refused for their rate (contract 3)."""

import re

from django.http import HttpRequest

from statebase_site.base.errors import DomainError
from statebase_site.web.api import body_object
from statebase_site.web.requests import read_body

_FREEZES = re.compile(r"/v1/(sessions/[^/]+/freeze|incidents|incidents/[^/]+/freeze)")
_WRITES_STATE = re.compile(r"/v1/sessions/[^/]+/state")
_STATE_METHODS = ("PATCH", "PUT", "POST")
_READ_AT_MOST = 64 * 1024  # bytes: a larger body is no reason to parse what is over its limit


def always_freezes(method: str, path: str) -> bool:
    """Whether a request like this is never refused for its rate, whatever its body says."""
    return method == "POST" and _FREEZES.fullmatch(path) is not None


def freezes(request: HttpRequest) -> bool:
    """Whether the request freezes a session or files an incident; reads the body where that decides."""
    path, method = request.path_info, request.method or ""
    if always_freezes(method, path):
        return True
    if method not in _STATE_METHODS or not _WRITES_STATE.fullmatch(path):
        return False
    try:
        raw = read_body(request)
        body = body_object(raw) if len(raw) <= _READ_AT_MOST else {}
    except DomainError:
        return False
    state = body.get("state", body.get("updates"))
    return isinstance(state, dict) and state.get("frozen") is True
