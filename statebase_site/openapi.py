"""The OpenAPI document: what the routes say of themselves, and what the frame round them adds to each.

The frame is the key and its scope, the errors, the headers, and that a field which is null counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, cast

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from pydantic import TypeAdapter

from statebase_site.access.authentication import needs
from statebase_site.access.freezing import always_freezes
from statebase_site.web.answers import Health, Liveness, Problem, Readiness, Root
from statebase_site.web.errors import JSON_TYPE, codes_by_status

Json = dict[str, Any]

_INTRODUCTION = """
* A body is JSON, whatever its content type says; no body is `{}`. A field that is `null` counts as absent,
  except inside `state`, `metadata` and the like. Fields that are not named here are passed over.
* A text outside such documents may not hold U+0000. Numbers that overflow a double, lone surrogates, a key
  that stands twice in one object, and nesting over 100 levels are refused.
* A `limit` over what a list gives is lowered to it.
* With and without a slash at the end is the same address.
"""
_OTHER_ADDRESSES = "other addresses"
_REFERENCE = "#/components/schemas/"


def _header(description: str, *, required: bool = True, **schema: Any) -> Json:
    return {"description": description, "required": required, "schema": schema}


_OF_EVERY_ANSWER = {
    "X-Request-Id": _header("The id of this request, also in errors.", type="string"),
    "X-StateBase-Latency": _header("How long the server took, in milliseconds.", type="string"),
}
_OF_ANSWERS_TO_A_KEY = _OF_EVERY_ANSWER | {
    "X-RateLimit-Limit": _header("Requests a minute that this key may send.", type="integer"),
    "X-RateLimit-Remaining": _header("Requests left at this moment.", type="integer", minimum=0),
    "X-RateLimit-Reset": _header("Unix second at which the allowance is whole again.", type="integer"),
}
_WAIT = {"Retry-After": _header("Seconds to wait.", type="integer", minimum=0)}
_ERRORS: dict[int, tuple[str, Json]] = {
    400: ("The request cannot be read, or a field is wrong: `param` names it.", _OF_ANSWERS_TO_A_KEY),
    401: (
        "No key, or one that is unknown, revoked or expired.",
        _OF_EVERY_ANSWER | {"WWW-Authenticate": _header("How to send a key.", type="string")},
    ),
    403: ("The key lacks a scope.", _OF_ANSWERS_TO_A_KEY),
    404: ("What the request names does not exist for this key.", _OF_ANSWERS_TO_A_KEY),
    409: ("The present facts stand against it.", _OF_ANSWERS_TO_A_KEY),
    413: ("Over a limit of size.", _OF_ANSWERS_TO_A_KEY),
    423: ("The session is frozen.", _OF_ANSWERS_TO_A_KEY),
    429: ("The key sent more than its limit; nothing was done.", _OF_ANSWERS_TO_A_KEY | _WAIT),
    503: ("The database does not answer at the moment; try again.", _OF_EVERY_ANSWER | _WAIT),
}
_ONLY_ON_PAGES = {
    "cannot_send_again",
    "delivery_not_found",
    "edit_conflict",
    "key_revoked",
    "last_admin",
    "member_not_found",
    "project_not_found",
    "sign_in_link_spent",
}
"""Codes of errors that no route of the API can run into."""
_IDEMPOTENCY_KEY: Json = {
    "in": "header",
    "name": "Idempotency-Key",
    "description": "Within 24 hours the same request with the same key is answered again, and runs once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}
_REPLAYED = {
    "Idempotency-Replayed": _header(
        "Stands on the answer of an earlier request with the same Idempotency-Key.",
        required=False,
        type="string",
        enum=["true"],
    )
}


def openapi_document(api: NinjaAPI) -> Json:
    """Every route under /v1, and what stands beside them and needs no key."""
    document: Json = dict(_Document(api, "/v1/"))
    document["info"]["description"] += "\n" + _INTRODUCTION
    document["paths"] |= _keyless_paths()
    components = document["components"]
    components["schemas"] |= _schemas_of(Problem)
    components["responses"] = {_name(status): _error(status) for status in _ERRORS}
    components["securitySchemes"] = {
        "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        "Bearer": {"type": "http", "scheme": "bearer", "description": "The same key in Authorization."},
    }
    for operation in _operations(document):
        if "requestBody" in operation:
            _tell_what_null_is(operation["requestBody"], components["schemas"])
    return document


class _Document(OpenAPISchema):
    """ninja's document, with the other addresses of routes in it and the frame round each."""

    def __init__(self, api: NinjaAPI, path_prefix: str) -> None:
        self._main_paths = {
            operation.view_func: path
            for router in api._get_bound_routers()
            for path, view in router.path_operations.items()
            for operation in view.operations
            if operation.include_in_schema
        }
        super().__init__(api, path_prefix)

    def methods(self, operations: list[Operation]) -> Json:
        return {
            method.lower(): self._operation(operation, method)
            for operation in operations
            for method in operation.methods
        }

    def _operation(self, operation: Operation, method: str) -> Json:
        self.all_operation_ids.clear()  # ninja's own ids are not kept
        path = _plain(operation.path)
        door = cast(needs, operation.auth_callbacks[0])
        told: Json = self.operation_details(operation)
        told["operationId"] = _id_of(operation, method, path)
        told["security"] = [{"ApiKey": [door.scope]}, {"Bearer": [door.scope]}]
        told["description"] = _in_words(door, told.get("description"))
        if not operation.include_in_schema:
            main = _plain(self._main_paths[operation.view_func])
            told["tags"] = [_OTHER_ADDRESSES]
            told["description"] += f" The same as `{method} /v1{main}`."
        writes = method != "GET" and not door.scope.endswith(":read")  # some POSTs only read
        told["parameters"] = [_as_sent(parameter) for parameter in told["parameters"]]
        headers = _OF_ANSWERS_TO_A_KEY
        if writes and method != "DELETE":
            told["parameters"].append(_IDEMPOTENCY_KEY)
            headers = headers | _REPLAYED
        for answer in told["responses"].values():
            answer["headers"] = headers
        told["responses"] |= {
            status: {"$ref": f"#/components/responses/{_name(status)}"}
            for status in sorted({*_errors_of(method, f"/v1{path}", writes), *operation.response_models})
            if status in _ERRORS
        }
        return told


def _errors_of(method: str, path: str, writes: bool) -> Iterator[int]:
    """What every route like this may answer; what else one may answer, it says itself."""
    yield from (400, 401, 403, 503)
    if not always_freezes(method, path):
        yield 429
    if "{" in path:
        yield 404
    if method != "GET":
        yield 413
    if writes and method != "DELETE":
        yield 409


def _id_of(operation: Operation, method: str, path: str) -> str:
    words = [*(operation.tags or []), operation.view_func.__name__]
    if method != operation.methods[0]:
        words += ["by", method]
    if not operation.include_in_schema:
        words += ["at", path]
    return re.sub(r"\W+", "_", " ".join(words)).strip("_").lower()


def _in_words(door: needs, own: str | None) -> str:
    scope = f"Needs the scope `{door.scope}`" + (f" or `{door.instead}`." if door.instead else ".")
    return f"{own} {scope}" if own else scope


def _plain(path: str) -> str:
    """Without the converters of parameters."""
    return re.sub(r"\{\w+:", "{", path)


def _as_sent(parameter: Json) -> Json:
    """A parameter as it stands in an address, where there is no null."""
    schema = _without_null(parameter["schema"])
    if schema.get("default", "") is None:
        del schema["default"]
    media_type = schema.pop("contentMediaType", None)
    if media_type is None:
        return parameter | {"schema": schema}
    content = {media_type: {"schema": schema["contentSchema"]}}
    return {name: value for name, value in parameter.items() if name != "schema"} | {"content": content}


def _without_null(schema: Json) -> Json:
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    others = {name: value for name, value in schema.items() if name != "anyOf"}
    if not kinds:
        return others
    return others | kinds[0] if len(kinds) == 1 else others | {"anyOf": kinds}


def _tell_what_null_is(body: Json, schemas: Json) -> None:
    """A null field counts as absent: no harm where it is optional, a fault where it is required."""
    schema = schemas[next(iter(body["content"].values()))["schema"]["$ref"].removeprefix(_REFERENCE)]
    required = schema.get("required", [])
    body["required"] = bool(required or "anyOf" in schema)
    for name, field in schema["properties"].items():
        plain = _without_null(field)
        if name not in required:
            default = {"default": plain.pop("default")} if "default" in plain else {}
            kinds = plain.pop("anyOf") if set(plain) <= {"anyOf", "title"} else [plain]
            plain = default | {"anyOf": [*kinds, {"type": "null"}]}
        schema["properties"][name] = plain


def _operations(document: Json) -> Iterator[Json]:
    for path in document["paths"].values():
        yield from path.values()


def _name(status: int) -> str:
    return HTTPStatus(status).phrase.title().replace(" ", "")


def _error(status: int) -> Json:
    description, headers = _ERRORS[status]
    codes = sorted(codes_by_status()[status] - _ONLY_ON_PAGES)
    error = {"type": "object", "properties": {"code": {"enum": codes}}}
    schema = {"allOf": [{"$ref": f"{_REFERENCE}Problem"}], "properties": {"error": error}}
    return {
        "description": description,
        "headers": headers,
        "content": {JSON_TYPE: {"schema": schema}},
    }


def _schemas_of(kind: Any) -> Json:
    schema = TypeAdapter(kind).json_schema(ref_template=_REFERENCE + "{model}")
    return {**schema.pop("$defs", {}), kind.__name__: schema}


def _keyless_paths() -> Json:
    def answer(kind: Any, description: str) -> Json:
        schema = TypeAdapter(kind).json_schema()
        return {"description": description, "content": {JSON_TYPE: {"schema": schema}}}

    def get(summary: str, responses: dict[int, Json]) -> Json:
        return {
            "get": {
                "operationId": "service_" + re.sub(r"\W+", "_", summary.lower()),
                "summary": summary,
                "tags": ["service"],
                "security": [],
                "responses": responses,
            }
        }

    return {
        "/": get("Name and version", {200: answer(Root, "For browsers: the overview.")}),
        "/health": get("How the server fares", {200: answer(Health, "`status` tells.")}),
        "/health/live": get("That it answers", {200: answer(Liveness, "It does.")}),
        "/health/ready": get(
            "Whether it can serve",
            {200: answer(Readiness, "It can."), 503: answer(Readiness, "The database is out of reach.")},
        ),
        "/openapi.json": get("This document", {200: answer(Json, "OpenAPI 3.1.")}),
    }
