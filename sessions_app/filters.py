"""Filters of the tables: all in the address, so that any selection is a link."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import django_filters as filters
from django import forms
from django.db.models import QuerySet

from sessions_app import queries
from sessions_app.enums import OLDER_ACTION_NAMES, SessionStatus
from sessions_app.models import AgentSession, Memory, Trace
from sessions_app.models.memory import MemoryScope
from statebase_site.base import clock, json

_PERIODS = {
    "1h": timedelta(hours=1),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
_PERIOD_CHOICES = [("1h", "the last hour"), ("24h", "24 hours"), ("7d", "7 days"), ("30d", "30 days")]
MORE_FILTERS = ("since", "rolled_back", "path", "metadata")
"""Those of the sessions table that are folded while none of them is set."""

_STATUS_CHOICES = [each for each in SessionStatus.choices if each[0] != SessionStatus.DELETED]


def _search(placeholder: str) -> forms.TextInput:
    return forms.TextInput(attrs={"placeholder": placeholder, "autocomplete": "off", "spellcheck": "false"})


class MetadataField(forms.CharField):
    """`key=value` or a JSON object; a value is read as JSON where it is some, else as text."""

    def clean(self, value: Any) -> json.JsonObject | None:
        text = super().clean(value)
        if not text:
            return None
        if text.startswith("{"):
            try:
                wanted = json.parse(text)
            except json.JsonFault as fault:
                raise forms.ValidationError(f"Not a JSON object: {fault}") from fault
            assert isinstance(wanted, dict)
            return wanted
        name, equals, given = text.partition("=")
        if not equals:
            raise forms.ValidationError('Write it as key=value, or as JSON: {"key": "value"}.')
        try:
            return {name.strip(): json.parse(given.strip())}
        except json.JsonFault:
            return {name.strip(): given.strip()}


class MetadataFilter(filters.Filter):
    """Sessions whose metadata holds the pairs."""

    field_class = MetadataField

    def filter(self, qs: QuerySet[AgentSession], value: json.JsonObject | None) -> QuerySet[AgentSession]:
        return queries.with_metadata(qs, value) if value else qs


class SessionFilter(filters.FilterSet):
    """Of the sessions table."""

    q = filters.CharFilter(label="Find", method="find", widget=_search("id, agent, user or path"))
    agent = filters.CharFilter(label="Agent", field_name="agent_id", widget=_search("travel-agent"))
    user = filters.CharFilter(label="User", field_name="user_id", widget=_search("user_4410"))
    status = filters.ChoiceFilter(
        label="Status", choices=_STATUS_CHOICES, empty_label="any", method="by_status"
    )
    since = filters.ChoiceFilter(
        label="Started in", choices=_PERIOD_CHOICES, empty_label="any time", method="started"
    )
    rolled_back = filters.ChoiceFilter(
        label="Rolled back",
        choices=[("yes", "yes"), ("no", "never")],
        empty_label="either",
        method="by_rollback",
    )
    path = filters.CharFilter(label="Changed path", method="by_path", widget=_search("/payment/amount"))
    metadata = MetadataFilter(label="Metadata", widget=_search("tier=gold"))

    class Meta:
        model = AgentSession
        fields: list[str] = []

    def find(self, sessions: QuerySet[AgentSession], _name: str, text: str) -> QuerySet[AgentSession]:
        return queries.matching_text(sessions, text.strip())

    def by_status(self, sessions: QuerySet[AgentSession], _name: str, status: str) -> QuerySet[AgentSession]:
        return queries.with_status(sessions, status)

    def started(self, sessions: QuerySet[AgentSession], _name: str, period: str) -> QuerySet[AgentSession]:
        return sessions.filter(created_at__gte=clock.now() - _PERIODS[period])

    def by_rollback(
        self, sessions: QuerySet[AgentSession], _name: str, answer: str
    ) -> QuerySet[AgentSession]:
        return sessions.filter(rollback_count__gt=0) if answer == "yes" else sessions.filter(rollback_count=0)

    def by_path(self, sessions: QuerySet[AgentSession], _name: str, path: str) -> QuerySet[AgentSession]:
        return queries.with_changed_path(sessions, _as_pointer(path))


def _as_pointer(path: str) -> str:
    """A path as people write it: a JSON Pointer as it is, `cart[0].price` as `/cart/0/price`."""
    if path.startswith("/"):
        return path
    return "/" + path.replace("[", ".").replace("]", "").replace(".", "/")


class TraceFilter(filters.FilterSet):
    """Of the trace explorer, of one session or of the project."""

    action = filters.CharFilter(
        label="Action",
        method="by_action",
        widget=forms.TextInput(
            attrs={"placeholder": "state.updated", "list": "trace-actions", "spellcheck": "false"}
        ),
    )
    actor = filters.CharFilter(
        label="Actor", field_name="actor_label", widget=_search("sb_9f2c or user:maria")
    )
    since = filters.ChoiceFilter(
        label="In", choices=_PERIOD_CHOICES, empty_label="any time", method="happened"
    )
    q = filters.CharFilter(label="Text in reasoning", method="find", widget=_search("refund"))

    class Meta:
        model = Trace
        fields: list[str] = []

    def by_action(self, traces: QuerySet[Trace], _name: str, action: str) -> QuerySet[Trace]:
        return traces.filter(action=OLDER_ACTION_NAMES.get(action, action))

    def happened(self, traces: QuerySet[Trace], _name: str, period: str) -> QuerySet[Trace]:
        return traces.filter(created_at__gte=clock.now() - _PERIODS[period])

    def find(self, traces: QuerySet[Trace], _name: str, text: str) -> QuerySet[Trace]:
        return queries.with_reasoning(traces, text)


class MemoryFilter(filters.FilterSet):
    """Of memories, of one session or of the project; `q` and `score` are for the search behind it."""

    q = filters.CharFilter(label="Search", method="as_it_is", widget=_search("what the user likes to drink"))
    scope = filters.ChoiceFilter(label="Scope", choices=MemoryScope.choices, empty_label="any")
    user = filters.CharFilter(label="User", field_name="user_id", widget=_search("user_4410"))
    type = filters.CharFilter(label="Type", widget=_search("preference"))
    tag = filters.CharFilter(label="Tag", method="by_tag", widget=_search("tea"))
    score = filters.ChoiceFilter(
        label="Score", choices=[("any", "any")], empty_label="0.7 or more", method="as_it_is"
    )

    class Meta:
        model = Memory
        fields: list[str] = []

    def as_it_is(self, memories: QuerySet[Memory], _name: str, _value: str) -> QuerySet[Memory]:
        return memories

    def by_tag(self, memories: QuerySet[Memory], _name: str, tag: str) -> QuerySet[Memory]:
        return memories.filter(tag_rows__tag=tag)
