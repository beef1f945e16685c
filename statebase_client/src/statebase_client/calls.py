"""Calls written once for both clients.

A call is a method that only describes its request and how to read the answer. The decorators `call`, `paged`
and `gathered` make of it a plain method in a group of `StateBase`, a coroutine in one of `AsyncStateBase`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import update_wrapper, wraps
from itertools import count
from types import MethodType
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, overload
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from statebase_client.errors import error_of
from statebase_client.pages import AsyncPage, Page
from statebase_client.retries import pause_before_retry

P = ParamSpec("P")
T = TypeVar("T")
D = TypeVar("D")
ModelT = TypeVar("ModelT", bound=BaseModel)
JsonObject: TypeAlias = dict[str, Any]
Moment: TypeAlias = str | float | datetime
"""ISO 8601 (without a zone: UTC), Unix seconds, or a datetime."""


@dataclass(frozen=True)
class Request(Generic[T]):
    """One HTTP request, and how its answer is read. Fields that are None are not sent."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None

    def arguments(self) -> dict[str, Any]:
        """As `httpx` takes it, but for the address."""
        sent: dict[str, Any] = {"params": _given(self.query)}
        if self.body is not None:
            sent["json"] = _given(self.body)
        if self.idempotency_key is not None:
            sent["headers"] = {"Idempotency-Key": self.idempotency_key}
        return sent

    def result(self, response: httpx.Response) -> T:
        """What the call returns. Raises `StateBaseError` where the server refused."""
        if not response.is_success:
            raise error_of(response)
        return self.read(response)


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A list that comes in pages; `read` makes an object of each of its rows."""

    path: str
    read: Callable[[JsonObject], T]
    query: Mapping[str, Any] = field(default_factory=dict)

    def request(self) -> Request[tuple[list[T], JsonObject]]:
        """Asks for the page, read as its objects and the rest of the answer."""
        return Request("GET", self.path, self._read_page, query=self.query)

    def after(self, last_id: str) -> Listing[T]:
        """The same list from the next page on."""
        return replace(self, query={**self.query, "starting_after": last_id})

    def _read_page(self, response: httpx.Response) -> tuple[list[T], JsonObject]:
        envelope = response.json()
        return [self.read(row) for row in envelope.pop("data")], envelope


class Group:
    """Calls that belong together, such as `sb.sessions`."""

    base_url: str
    max_retries: int


class SyncGroup(Group):
    """A group of `StateBase`: sends what its calls describe and waits for the answer."""

    def __init__(self, client: httpx.Client, base_url: str, max_retries: int) -> None:
        self.client, self.base_url, self.max_retries = client, base_url, max_retries

    def _answer(self, request: Request[T]) -> T:
        for attempt in count():
            url = self.base_url + request.path
            response = self.client.request(request.method, url, **request.arguments())
            pause = pause_before_retry(response, attempt, self.max_retries)
            if pause is None:
                break
            time.sleep(pause)
        return request.result(response)

    def _page(self, listing: Listing[T]) -> Page[T]:
        items, envelope = self._answer(listing.request())
        return Page(items, envelope, lambda last_id: self._page(listing.after(last_id)))

    def _all(self, listing: Listing[T]) -> list[T]:
        return list(self._page(listing).iterate())


class AsyncGroup(Group):
    """A group of `AsyncStateBase`."""

    def __init__(self, client: httpx.AsyncClient, base_url: str, max_retries: int) -> None:
        self.client, self.base_url, self.max_retries = client, base_url, max_retries

    async def _answer(self, request: Request[T]) -> T:
        for attempt in count():
            url = self.base_url + request.path
            response = await self.client.request(request.method, url, **request.arguments())
            pause = pause_before_retry(response, attempt, self.max_retries)
            if pause is None:
                break
            await asyncio.sleep(pause)
        return request.result(response)

    async def _page(self, listing: Listing[T]) -> AsyncPage[T]:
        items, envelope = await self._answer(listing.request())
        return AsyncPage(items, envelope, lambda last_id: self._page(listing.after(last_id)))

    async def _all(self, listing: Listing[T]) -> list[T]:
        return [item async for item in (await self._page(listing)).iterate()]


class _Call(Generic[P, D]):
    """A method that describes; looked up on a group it is one that also asks, in the group's way."""

    _way: ClassVar[str]

    def __init__(self, describe: Callable[Concatenate[Any, P], D]) -> None:
        self._describe = describe
        update_wrapper(self, describe)  # type: ignore[arg-type]

    def _of(self, group: Group | None) -> Any:
        if group is None:
            return self
        describe = MethodType(self._describe, group)
        way = getattr(group, self._way)

        @wraps(describe)
        def ask(*arguments: P.args, **named: P.kwargs) -> Any:
            return way(describe(*arguments, **named))

        return ask


class call(_Call[P, Request[T]]):
    """A call that sends one request."""

    _way = "_answer"

    @overload
    def __get__(self, group: SyncGroup, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, group: AsyncGroup, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, group: Group | None, owner: type) -> Any: ...
    def __get__(self, group: Group | None, owner: type) -> Any:
        return self._of(group)


class paged(_Call[P, Listing[T]]):
    """A call that returns one page, from which the others can be reached."""

    _way = "_page"

    @overload
    def __get__(self, group: SyncGroup, owner: type) -> Callable[P, Page[T]]: ...
    @overload
    def __get__(self, group: AsyncGroup, owner: type) -> Callable[P, Coroutine[Any, Any, AsyncPage[T]]]: ...
    @overload
    def __get__(self, group: Group | None, owner: type) -> Any: ...
    def __get__(self, group: Group | None, owner: type) -> Any:
        return self._of(group)


class gathered(_Call[P, Listing[T]]):
    """A call that follows all pages before it returns."""

    _way = "_all"

    @overload
    def __get__(self, group: SyncGroup, owner: type) -> Callable[P, list[T]]: ...
    @overload
    def __get__(self, group: AsyncGroup, owner: type) -> Callable[P, Coroutine[Any, Any, list[T]]]: ...
    @overload
    def __get__(self, group: Group | None, owner: type) -> Any: ...
    def __get__(self, group: Group | None, owner: type) -> Any:
        return self._of(group)


def path(*parts: str | int) -> str:
    """An address under /v1. Raises ValueError for an id that would lead to another address."""
    texts = [str(part) for part in parts]
    if any(text in ("", ".", "..") for text in texts):
        raise ValueError(f"An id can't be empty or only dots: {texts!r}")
    return "/v1/" + "/".join(quote(text, safe="") for text in texts)


def reads(model: type[ModelT]) -> Callable[[httpx.Response], ModelT]:
    """Reads an answer as an object of this kind."""
    return lambda response: model.model_validate(response.json())


def nothing(response: httpx.Response) -> None:
    """Reads an answer without a body."""


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be sent: no field that is None, and moments as text."""
    return {
        name: value.isoformat() if isinstance(value, date) else value
        for name, value in fields.items()
        if value is not None
    }
