"""Tables of sessions, traces and memories."""

from __future__ import annotations

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from sessions_app.models import Memory, Trace
from sessions_app.queries import version_made
from statebase_site.web.tables import MOMENT, NUMBER
from statebase_site.web.templatetags.ui import visible

_LONG = {"td": {"class": "long"}}
_SHOWN = 400  # characters of a reasoning; the whole stands on the trace's own page


class SessionTable(tables.Table):
    """Sessions; the caption says in which order."""

    row_header = "agent_id"

    agent_id = tables.TemplateColumn(
        template_name="sessions_app/_session_cell.html", verbose_name="Session", orderable=False
    )
    user_id = tables.TemplateColumn(
        "{{ value|default:'–'|truncatechars:40|visible }}", verbose_name="User", orderable=False
    )
    status = tables.TemplateColumn(
        template_name="sessions_app/_status.html", verbose_name="Status", orderable=False
    )
    head_version = tables.Column(verbose_name="Version", attrs=NUMBER, orderable=False)
    turn_count = tables.Column(verbose_name="Turns", attrs=NUMBER, orderable=False)
    rollback_count = tables.Column(verbose_name="Rollbacks", attrs=NUMBER, orderable=False)
    created_at = tables.TemplateColumn(MOMENT, verbose_name="Started")
    updated_at = tables.TemplateColumn(MOMENT, verbose_name="Last activity")

    class Meta:
        empty_text = None
        order_by_field = "sort"

    def render_head_version(self, value: int) -> str:
        return f"v{value}"


class DeletedSessionTable(tables.Table):
    """Deleted sessions, which come back until their purge. Reads `may_restore` of the page's context."""

    caption = "Deleted sessions, the latest first"
    row_header = "agent_id"

    agent_id = tables.TemplateColumn(
        '<span class="strong">{{ value|truncatechars:60|visible }}</span> '
        '<span class="mono faint">{{ record.public_id }}</span>',
        verbose_name="Session",
    )
    deleted_at = tables.TemplateColumn(MOMENT, verbose_name="Deleted")
    by = tables.Column(verbose_name="By", accessor="pk")
    reason = tables.Column(verbose_name="Reason", accessor="pk", attrs=_LONG)
    head_version = tables.Column(verbose_name="Version", attrs=NUMBER)
    turn_count = tables.Column(verbose_name="Turns", attrs=NUMBER)
    purge_at = tables.TemplateColumn(MOMENT, verbose_name="Purged after")
    restore = tables.TemplateColumn(
        template_name="sessions_app/_restore.html", verbose_name="Action", accessor="public_id"
    )

    class Meta:
        orderable = False
        empty_text = None

    def __init__(self, *args: Any, deletions: dict[int, Trace], **kwargs: Any) -> None:
        self.deletions = deletions
        super().__init__(*args, **kwargs)

    def render_by(self, value: int) -> SafeString:
        trace = self.deletions.get(value)
        return format_html('<span class="mono">{}</span>', visible(trace.actor_label if trace else "–"))

    def render_reason(self, value: int) -> SafeString:
        trace = self.deletions.get(value)
        reason = trace.details.get("reason") if trace else None
        return format_html('<span class="clamp">{}</span>', visible(str(reason or "–")[:_SHOWN]))

    def render_head_version(self, value: int) -> str:
        return f"v{value}"


class TraceTable(tables.Table):
    """Traces, newest first; a row is named by its time, which leads to the whole of it."""

    caption = "Traces, newest first"
    row_header = "created_at"

    created_at = tables.TemplateColumn(
        '<a href="{% url "sessions:trace" record.public_id %}">{% moment value "full" %}</a>',
        verbose_name="Time",
        attrs={"td": {"class": "nowrap"}},
    )
    action = tables.TemplateColumn(
        template_name="sessions_app/_action.html", verbose_name="Action", attrs={"td": {"class": "nowrap"}}
    )
    version = tables.Column(accessor="details_text", verbose_name="Version", attrs=NUMBER)
    actor_label = tables.TemplateColumn(
        '<span class="mono">{{ value|truncatechars:40|visible }}</span>', verbose_name="Actor"
    )
    session = tables.TemplateColumn(
        template_name="sessions_app/_trace_session.html",
        accessor="session_public_id",
        verbose_name="Session",
    )
    reasoning = tables.Column(accessor="public_id", verbose_name="Reasoning", attrs=_LONG)

    class Meta:
        orderable = False
        empty_text = None

    def __init__(self, *args: Any, reasonings: dict[str, str], **kwargs: Any) -> None:
        self.reasonings = reasonings
        super().__init__(*args, **kwargs)

    def render_version(self, record: Trace) -> SafeString | str:
        number = version_made(record)
        if number is None or record.agent_session_id is None:
            return "–"
        address = reverse("sessions:version", args=[record.session_public_id, number])
        return format_html('<a href="{}">v{}</a>', address, number)

    def render_reasoning(self, value: str) -> SafeString:
        reasoning = self.reasonings.get(value, "")
        if not reasoning:
            return SafeString("–")
        shown = reasoning if len(reasoning) <= _SHOWN else f"{reasoning[:_SHOWN]}…"
        return format_html('<span class="clamp">{}</span>', visible(shown))


class SessionTraceTable(TraceTable):
    """The traces of one session."""

    class Meta(TraceTable.Meta):
        exclude = ("session",)


class MemoryTable(tables.Table):
    """Memories; a row is named by what it says, which leads to the whole of it."""

    row_header = "content"

    score = tables.Column(accessor="pk", attrs=NUMBER)
    content = tables.TemplateColumn(
        '<a class="clamp" href="{% url "sessions:memory" record.public_id %}">'
        "{{ value|truncatechars:300|visible }}</a>",
        verbose_name="Memory",
        attrs=_LONG,
    )
    scope = tables.TemplateColumn(template_name="sessions_app/_memory_scope.html", verbose_name="Whose")
    type = tables.TemplateColumn("{{ value|truncatechars:40|visible }}", verbose_name="Type")
    tags = tables.TemplateColumn(template_name="sessions_app/_tags.html", verbose_name="Tags")
    session = tables.TemplateColumn(
        template_name="sessions_app/_memory_session.html", accessor="public_id", verbose_name="Session"
    )
    created_at = tables.TemplateColumn(MOMENT, verbose_name="Added")

    class Meta:
        orderable = False
        empty_text = None

    def __init__(self, rows: list[Memory], *, scores: dict[int, float] | None, in_session: bool) -> None:
        self.scores = scores
        self.caption = "Memories, newest first" if scores is None else "Memories found, best first"
        hidden = [name for name, shown in (("score", scores), ("session", not in_session)) if not shown]
        super().__init__(rows, exclude=hidden)

    def render_score(self, value: int) -> str:
        return f"{(self.scores or {}).get(value, 0.0):.2f}"


def sort_column(asked: str | None) -> tuple[str, bool]:
    """The indexed column to sort sessions by, and whether descending; anything unknown is the default."""
    column = (asked or "").lstrip("-")
    if column not in {"created_at", "updated_at"}:
        return "created_at", True
    return column, bool(asked and asked.startswith("-"))
