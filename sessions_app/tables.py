"""Tables of sessions and traces."""

from __future__ import annotations

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from sessions_app.models import Trace
from statebase_site.web.templatetags.ui import visible

_NUMBER = {"th": {"class": "num"}, "td": {"class": "num"}}
_LONG = {"td": {"class": "long"}}
_MOMENT = "{% moment value %}"


class SessionTable(tables.Table):
    """Sessions; the caption says in which order."""

    row_header = "agent_id"

    agent_id = tables.TemplateColumn(
        template_name="sessions_app/_session_cell.html", verbose_name="Session", orderable=False
    )
    user_id = tables.TemplateColumn(
        "{% if value %}{{ value|visible }}{% else %}–{% endif %}", verbose_name="User", orderable=False
    )
    status = tables.TemplateColumn(
        template_name="sessions_app/_status.html", verbose_name="Status", orderable=False
    )
    head_version = tables.Column(verbose_name="Version", attrs=_NUMBER, orderable=False)
    turn_count = tables.Column(verbose_name="Turns", attrs=_NUMBER, orderable=False)
    rollback_count = tables.Column(verbose_name="Rollbacks", attrs=_NUMBER, orderable=False)
    created_at = tables.TemplateColumn(_MOMENT, verbose_name="Started")
    updated_at = tables.TemplateColumn(_MOMENT, verbose_name="Last activity")

    class Meta:
        empty_text = None
        order_by_field = "sort"

    def render_head_version(self, value: int) -> str:
        return f"v{value}"


class TraceTable(tables.Table):
    """Traces, newest first."""

    caption = "Traces, newest first"
    row_header = "action"

    created_at = tables.TemplateColumn('{% moment value "full" %}', verbose_name="Time")
    action = tables.Column(verbose_name="Action", attrs={"td": {"class": "data nowrap"}})
    actor_label = tables.Column(verbose_name="Actor", attrs={"td": {"class": "data nowrap"}})
    session = tables.Column(
        accessor="session_public_id", verbose_name="Session", attrs={"td": {"class": "data"}}
    )
    reasoning = tables.Column(accessor="public_id", verbose_name="Reasoning", attrs=_LONG)
    public_id = tables.Column(verbose_name="Trace", attrs={"td": {"class": "data"}})

    class Meta:
        orderable = False
        empty_text = None

    def __init__(self, *args: Any, reasonings: dict[str, str], **kwargs: Any) -> None:
        self.reasonings = reasonings
        super().__init__(*args, **kwargs)

    def render_action(self, value: str, record: Trace) -> SafeString:
        client = format_html(' <span class="chip">client</span>') if record.source == "client" else ""
        return format_html("{}{}", visible(value), client)

    def render_actor_label(self, value: str) -> SafeString:
        return visible(value)

    def render_session(self, value: str, record: Trace) -> SafeString:
        if record.agent_session_id is None:
            return visible(value)
        return format_html('<a href="{}">{}</a>', reverse("sessions:time-machine", args=[value]), value)

    def render_reasoning(self, value: str) -> SafeString:
        return visible(self.reasonings.get(value, "–")[:500])

    def render_public_id(self, value: str) -> SafeString:
        return format_html('<a href="{}">{}</a>', reverse("sessions:trace", args=[value]), value)


class SessionTraceTable(TraceTable):
    """The traces of one session."""

    class Meta(TraceTable.Meta):
        exclude = ("session",)


def sort_column(asked: str | None) -> tuple[str, bool]:
    """The indexed column to sort sessions by, and whether descending; anything unknown is the default."""
    column = (asked or "").lstrip("-")
    if column not in {"created_at", "updated_at"}:
        return "created_at", True
    return column, bool(asked and asked.startswith("-"))
