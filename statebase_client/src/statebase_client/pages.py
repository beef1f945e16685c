"""One page of a list, and the way to the pages after it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, SupportsIndex, TypeVar, overload

T = TypeVar("T")


class _ListedPage(list[T]):
    """The objects of a page; the fields of the answer beside them are attributes, and keys too."""

    def __init__(self, items: list[T], envelope: Mapping[str, Any]) -> None:
        super().__init__(items)
        self.envelope = dict(envelope)

    @property
    def has_more(self) -> bool:
        """There are later pages."""
        return bool(self.envelope.get("has_more"))

    @property
    def first_id(self) -> str | None:
        """Id of the first object."""
        return self.envelope.get("first_id")

    @property
    def last_id(self) -> str | None:
        """Id of the last object: `starting_after` of the next page."""
        return self.envelope.get("last_id")

    @overload
    def __getitem__(self, place: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    @overload
    def __getitem__(self, place: str) -> Any: ...
    def __getitem__(self, place: SupportsIndex | slice | str) -> Any:
        """An object by its place, or a field of the answer by its name, `data` for the objects."""
        if isinstance(place, str):
            return self if place == "data" else self.envelope[place]
        return super().__getitem__(place)

    def get(self, name: str, default: Any = None) -> Any:
        """A field of the answer by its name."""
        return self if name == "data" else self.envelope.get(name, default)


class Page(_ListedPage[T]):
    """One page of a list; `iterate()` goes on through the pages after it."""

    def __init__(
        self, items: list[T], envelope: Mapping[str, Any], follow: Callable[[str], Page[T]] | None = None
    ) -> None:
        super().__init__(items, envelope)
        self._follow = follow

    def next_page(self) -> Page[T] | None:
        """The page after this one; None after the last."""
        if not self.has_more or self.last_id is None or self._follow is None:
            return None
        return self._follow(self.last_id)

    def iterate(self) -> Iterator[T]:
        """The objects of this page and of all after it; each page is asked for when it is reached."""
        page: Page[T] | None = self
        while page is not None:
            yield from page
            page = page.next_page()


class AsyncPage(_ListedPage[T]):
    """`Page` for `async for`."""

    def __init__(
        self,
        items: list[T],
        envelope: Mapping[str, Any],
        follow: Callable[[str], Awaitable[AsyncPage[T]]] | None = None,
    ) -> None:
        super().__init__(items, envelope)
        self._follow = follow

    async def next_page(self) -> AsyncPage[T] | None:
        """The page after this one; None after the last."""
        if not self.has_more or self.last_id is None or self._follow is None:
            return None
        return await self._follow(self.last_id)

    async def iterate(self) -> AsyncIterator[T]:
        """The objects of this page and of all after it; each page is asked for when it is reached."""
        page: AsyncPage[T] | None = self
        while page is not None:
            for item in page:
                yield item
            page = await page.next_page()
