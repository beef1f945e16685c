"""The icons, as paths on a 16 x 16 grid; their colour is that of the text beside them."""

_STROKED = {
    "rollback": "M3.2 5.4A5.5 5.5 0 1 1 2.5 9M3 2v3.5h3.5",
    "fork": "M4.5 5.5v5M4.5 8c0 2 7 .6 7-2.5M6 4a1.5 1.5 0 1 1-3 0a1.5 1.5 0 1 1 3 0M13 4a1.5 1.5 0 1 1-3 0"
    "a1.5 1.5 0 1 1 3 0M6 12a1.5 1.5 0 1 1-3 0a1.5 1.5 0 1 1 3 0",
    "freeze": "M8 1.5v13M2.4 4.75l11.2 6.5M13.6 4.75l-11.2 6.5M6.3 2.8L8 4.4l1.7-1.6M6.3 13.2L8 11.6l1.7 1.6",
    "refused": "M3.5 3.5l9 9M12.5 3.5l-9 9",
    "compare": "M2 3h5v10H2zM9 3h5v10H9z",
    "copy": "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
    "check": "M2.5 8.5l3.5 3.5l7.5-8",
    "search": "M11.5 7a4.5 4.5 0 1 1-9 0a4.5 4.5 0 1 1 9 0M10.4 10.4l3.6 3.6",
    "left": "M10 3L5 8l5 5",
    "right": "M6 3l5 5l-5 5",
    "down": "M3 6l5 5l5-5",
    "up": "M3 10l5-5l5 5",
    "sort": "M5 6l3-3l3 3M5 10l3 3l3-3",
    "clock": "M14 8a6 6 0 1 1-12 0a6 6 0 1 1 12 0M8 4.5V8l2.5 1.5",
    "user": "M10.75 5.25a2.75 2.75 0 1 1-5.5 0a2.75 2.75 0 1 1 5.5 0M2.5 14c.6-3 2.6-4.5 5.5-4.5"
    "s4.9 1.5 5.5 4.5",
    "key": "M8 10.5a3 3 0 1 1-6 0a3 3 0 1 1 6 0M7.2 8.4L13.5 2M11 4.5l2 2",
    "warning": "M8 2L14.5 13.5h-13zM8 6.2v3.6M8 11.3v.9",
    "info": "M14 8a6 6 0 1 1-12 0a6 6 0 1 1 12 0M8 7.4v3.6M8 4.9v.9",
    "pin": "M5 2h6M6 2v4.5L4 9h8L10 6.5V2M8 9v5.5",
    "plus": "M8 2.5v11M2.5 8h11",
    "minus": "M2.5 8h11",
    "close": "M3.5 3.5l9 9M12.5 3.5l-9 9",
    "undo": "M6 2.5L2.5 6L6 9.5M3 6h6.5a4 4 0 0 1 0 8H6",
    "flag": "M3.5 14.5v-12M3.5 3h8.5l-2 3l2 3H3.5",
    "filter": "M2 3.5h12L9.5 8.5v4.5l-3-1.5v-3z",
    "download": "M8 2v8M4.5 7L8 10.5L11.5 7M2.5 13.5h11",
    "external": "M9 2.5h4.5V7M13.5 2.5l-6 6M7 3.5H2.5v10h10V9",
    "chat": "M2 3h12v8H7.5L4.5 13.5V11H2z",
    "tool": "M13.6 4.6l-2.4 2.4l-2.2-2.2l2.4-2.4a3.6 3.6 0 0 0-4.6 4.6L2.4 11.4a1.6 1.6 0 0 0 2.2 2.2L9 9.2"
    "a3.6 3.6 0 0 0 4.6-4.6z",
    "eye": "M1.5 8c3-6 10-6 13 0c-3 6-10 6-13 0zM10 8a2 2 0 1 1-4 0a2 2 0 1 1 4 0",
    "theme": "M14 8a6 6 0 1 1-12 0a6 6 0 1 1 12 0",
}
_FILLED = {
    "update": "M12 8a4 4 0 1 1-8 0a4 4 0 1 1 8 0",
    "play": "M4 2.5v11l9-5.5z",
    "pause": "M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z",
    "first": "M3 2.5h2v11H3zM13 2.5v11L6 8z",
    "last": "M11 2.5h2v11h-2zM3 2.5v11L10 8z",
    "more": "M4.5 8a1.2 1.2 0 1 1-2.4 0a1.2 1.2 0 1 1 2.4 0M9.2 8a1.2 1.2 0 1 1-2.4 0a1.2 1.2 0 1 1 2.4 0"
    "M13.9 8a1.2 1.2 0 1 1-2.4 0a1.2 1.2 0 1 1 2.4 0",
    "theme": "M8 2a6 6 0 0 1 0 12z",
}
NAMES = frozenset(_STROKED) | frozenset(_FILLED)


def svg(name: str) -> str:
    """The icon as SVG markup, hidden from screen readers: the words beside it say what it means.

    Raises KeyError when there is no icon of that name.
    """
    if name not in NAMES:
        raise KeyError(f"There is no icon {name!r}; the icons are {', '.join(sorted(NAMES))}.")
    paths = ""
    if line := _STROKED.get(name):
        paths += f'<path d="{line}"/>'
    if area := _FILLED.get(name):
        paths += f'<path class="filled" d="{area}"/>'
    return (
        f'<svg class="icon icon-{name}" viewBox="0 0 16 16" width="16" height="16" fill="none"'
        f' stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"'
        f' aria-hidden="true">{paths}</svg>'
    )
