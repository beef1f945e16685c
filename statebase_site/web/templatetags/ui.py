"""Template tags that every page shares; built in, so no template loads them."""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.template import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from statebase_site.web import icons, wording
from statebase_site.web.times import MODES, STYLES, ViewerTimes, utc_text

register = template.Library()

THEMES = {"auto": "As the system", "light": "Light", "dark": "Dark"}
THEME_COOKIE = "theme"


@register.simple_tag(takes_context=True)
def moment(context: Context, value: datetime | None, style: str = "moment") -> SafeString:
    """`value` as `<time>`, written as the viewer set it, with the exact UTC moment in its title.

    `style` is one of `times.STYLES`. Without a value: a dash that says so.
    """
    if style not in STYLES:
        raise template.TemplateSyntaxError(
            f"A moment has no style {style!r}; it is one of {', '.join(STYLES)}."
        )
    if not value:
        return mark_safe('<span class="none" title="never">–</span>')
    times = viewer_times(context)
    return format_html(
        '<time datetime="{}" title="{}"{}>{}</time>',
        value.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        utc_text(value),
        mark_safe(" data-relative") if times.mode == "relative" and style != "full" else "",
        times.text(value, style),
    )


@register.simple_tag(takes_context=True)
def viewer_times(context: Context) -> ViewerTimes:
    """The viewer's setting for moments, for what a page draws from it."""
    return ViewerTimes.of(context.get("request"))


@register.simple_tag
def time_modes() -> dict[str, str]:
    """The ways to show moments, by the word that is kept, for the header's form."""
    return MODES


@register.simple_tag
def themes() -> dict[str, str]:
    """The themes, likewise."""
    return THEMES


@register.simple_tag(takes_context=True)
def viewer_theme(context: Context) -> str:
    """`auto`, `light` or `dark`, as this browser was told."""
    request = context.get("request")
    theme = request.COOKIES.get(THEME_COOKIE, "auto") if request is not None else "auto"
    return theme if theme in THEMES else "auto"


@register.filter
def visible(value: Any) -> SafeString:
    """`value` escaped, with each character that would not be seen written out."""
    return format_html_join(
        "",
        "{}",
        (
            (format_html('<span class="hidden-char" title="{}">{}</span>', name, part) if name else part,)
            for part, name in wording.hidden_parts("" if value is None else str(value))
        ),
    )


@register.filter
def filesize(value: int | None) -> SafeString:
    """Bytes in words, with the exact count in the title."""
    if value is None:
        return SafeString("–")
    return format_html(
        '<data value="{}" title="{}">{}</data>',
        value,
        wording.count_noun(value, "byte"),
        wording.filesize(value),
    )


@register.simple_tag
def count_noun(count: int, noun: str, plural: str = "") -> str:
    """`3 versions`, `1 version`, `12,345 entries`."""
    return wording.count_noun(count, noun, plural)


@register.filter
def thousands(value: int | None) -> str:
    """A whole number with its thousands apart: `12,345`."""
    return "–" if value is None else f"{value:,}"


@register.filter
def pointer_dots(value: str, most: int | None = None) -> SafeString:
    """A JSON pointer as a dotted path, made visible; of a longer one than `most` characters only the end."""
    path = wording.pointer_dots(value)
    return visible(path if most is None or len(path) <= most else f"…{path[1 - most :]}")


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """The icon `name`; with `label`, words for screen readers when none stand beside it."""
    drawn = mark_safe(icons.svg(name))  # noqa: S308 our own drawing
    return format_html('{}<span class="visually-hidden">{}</span>', drawn, label) if label else drawn


@register.simple_tag(takes_context=True)
def lend_page_to(context: Context, table: Any) -> str:
    """Let the columns of a django-tables2 table read the page's context, such as how times are wanted."""
    table.context, table.request = context, context.get("request")
    return ""


@register.filter
def aria_sort(column: Any) -> str:
    """The sort state of a django-tables2 column: `ascending`, `descending`, or `none`."""
    if not column.is_ordered:
        return "none"
    return "ascending" if column.order_by_alias.is_ascending else "descending"
