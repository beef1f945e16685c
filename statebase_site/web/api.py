"""The frame of the JSON API: strict reading, lists, and errors, over django-ninja.

Routes raise domain errors and return plain JSON values; everything about HTTP that all of them share is here.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from django.core.exceptions import SuspiciousOperation
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError, ValidationError
from ninja.parser import Parser
from ninja.renderers import BaseRenderer

from statebase_site.base import json
from statebase_site.base.errors import DomainError, InvalidInput
from statebase_site.web.errors import JSON_TYPE, crash_answer, error_answer, json_answer, route_not_found

Row = TypeVar("Row", bound=Model)

# Routes answer by themselves and only describe their answers, so the models of these are built when somebody
# reads the OpenAPI document: building them would be half of the time in which any process starts.
Schema.model_config["defer_build"] = True


class StrictParser(Parser):
    """Bodies as contract section 1 wants them, whatever the content type says."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        """The body's fields without those that are null: a null field counts as absent."""
        return {name: value for name, value in body_object(request.body).items() if value is not None}


def body_object(raw: bytes) -> json.JsonObject:
    """A body as an object: no body is `{}`. Raises InvalidInput for what is not an object of strict JSON."""
    if not raw or raw.isspace():
        return {}
    try:
        value = json.parse(raw)
    except json.JsonFault as fault:
        raise invalid_json(fault) from fault
    if type(value) is not dict:
        raise InvalidInput("The request body must be a JSON object, such as {}.")
    return value


def invalid_json(fault: json.JsonFault) -> InvalidInput:
    """The domain's word for a fault in a JSON text; `param` is the JSON Pointer of the place."""
    return InvalidInput(fault.message, param=fault.path or None)


class StrictRenderer(BaseRenderer):
    """Answers through `base.json`, so that every number and text goes out as it came in."""

    media_type = JSON_TYPE

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        return json.render(data)


def list_envelope(
    data: list[dict[str, Any]], *, has_more: bool, id_field: str = "id", **extras: Any
) -> dict[str, Any]:
    """The envelope of every list (contract section 2); `id_field` names what cursors point at."""
    return {
        "object": "list",
        "data": data,
        "has_more": has_more,
        "first_id": str(data[0][id_field]) if data else None,
        "last_id": str(data[-1][id_field]) if data else None,
        **extras,
    }


class _Outcome(Protocol):
    @property
    def replayed(self) -> bool: ...


def written(outcome: _Outcome, payload: dict[str, Any], status: int = 200) -> HttpResponse:
    """The answer to a write; says so where it is an earlier one, given again (contract 4.2)."""
    answer = json_answer(payload, status)
    if outcome.replayed:
        answer["Idempotency-Replayed"] = "true"
    return answer


def bad_cursor(cursor: str) -> InvalidInput:
    """For a `starting_after` that names nothing in the list."""
    return InvalidInput(
        f"There is nothing with the id {cursor!r} in this list to start after.",
        param="starting_after",
        suggestion="Send the last_id of the page before, or leave it out to start at the first page.",
    )


def row_after(rows: QuerySet[Row], starting_after: str | None) -> Row | None:
    """The row, by its public id, that a page goes on after; None for the first page. Raises InvalidInput."""
    if starting_after is None:
        return None
    found = rows.filter(public_id=starting_after).first()
    if found is None:
        raise bad_cursor(starting_after)
    return found


def new_api(*, title: str, version: str, description: str) -> NinjaAPI:
    """A NinjaAPI with the contract's parser, renderer and errors, and no pages of its own."""
    api = NinjaAPI(
        title=title,
        version=version,
        description=description,
        urls_namespace="api",
        openapi_url=None,
        docs_url=None,
        parser=StrictParser(),
        renderer=StrictRenderer(),
    )
    handlers: dict[type[Exception], Callable[..., HttpResponse]] = {
        DomainError: error_answer,
        ValidationError: _validation_failed,
        HttpError: _http_error,
        json.JsonFault: lambda request, fault: error_answer(request, invalid_json(fault)),
        SuspiciousOperation: _unreadable,
        Http404: lambda request, _: error_answer(request, route_not_found(request)),
        Exception: crash_answer,
    }
    for kind, handler in handlers.items():
        api.add_exception_handler(kind, handler)
    return api


def dispatch(request: HttpRequest) -> HttpResponse:
    """Answer a request of the API without what only browsers need: cookies, sessions, CSRF, messages."""
    request.get_host()  # refuses hosts that are not served here
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return error_answer(request, route_not_found(request))
    request.resolver_match = match
    try:
        return match.func(request, *match.args, **match.kwargs)
    except Http404:
        return error_answer(request, route_not_found(request))
    except Exception as error:
        return crash_answer(request, error)


def _unreadable(request: HttpRequest, error: SuspiciousOperation) -> HttpResponse:
    """400 for what Django refuses to read, such as an address with over a thousand parameters."""
    return error_answer(request, InvalidInput("The request is malformed, or has too many parameters."))


def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    # ninja wraps whatever a parser raises; what was raised says more.
    if isinstance(error.__cause__, DomainError):
        return error_answer(request, error.__cause__)
    if isinstance(error.__cause__, Exception):
        return crash_answer(request, error.__cause__)
    return error_answer(request, InvalidInput(error.message))


def _validation_failed(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """400, with one entry a fault in `detail` as FastAPI shows them; `param` is the first field at fault."""
    detail = [_fault(entry) for entry in error.errors]
    first = detail[0]
    named = InvalidInput(first["msg"], param=".".join(str(step) for step in first["loc"][1:]) or None)
    return error_answer(request, named, detail=detail)


_IN_WORDS = {
    "string_type": "must be a text.",
    "int_type": "must be a whole number.",
    "bool_type": "must be true or false.",
    "bool_parsing": "must be true or false.",
    "dict_type": "must be a JSON object.",
    "list_type": "must be a list.",
    "literal_error": "must be {expected}.",
    "string_too_short": "must have at least {min_length} character.",
    "string_too_long": "must have at most {max_length} characters.",
}
"""The validator's own words are for programmers; these are for who sent the field, by type of error."""


def _fault(entry: dict[str, Any]) -> dict[str, Any]:
    place, *steps = entry["loc"]
    if place == "body":
        steps = steps[1:]  # the first step is the name of the view's argument
    field = ".".join(str(step) for step in steps)
    if entry["type"] == "missing":
        message = f"{field} is required." if field else "The request body is required."
    else:
        words = _IN_WORDS.get(entry["type"])
        told = words.format(**entry.get("ctx", {})) if words else entry["msg"].removeprefix("Value error, ")
        message = f"{field}: {told}"
    return {"loc": [place, *steps], "msg": message, "type": entry["type"]}
