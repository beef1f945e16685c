"""Filters of the incident list: all in the address, so that any selection is a link."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import django_filters as filters
from django import forms
from django.db.models import QuerySet

from incidents_app import queries
from incidents_app.enums import ACTIVE, FailureMode, Severity, Status
from incidents_app.models import Incident
from statebase_site.base import clock

ME = "me"
_NONE = "none"
_PERIODS = {
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "90d": timedelta(days=90),
    "365d": timedelta(days=365),
}
PERIOD_CHOICES = [
    ("24h", "24 hours"),
    ("7d", "7 days"),
    ("30d", "30 days"),
    ("90d", "90 days"),
    ("365d", "a year"),
]
MORE_FILTERS = ("mode", "commander", "session", "since", "overdue")
"""Those that are folded while none of them is set."""


def _text(placeholder: str) -> forms.TextInput:
    return forms.TextInput(attrs={"placeholder": placeholder, "autocomplete": "off", "spellcheck": "false"})


def begin_of(period: str) -> Any:
    """When a period of `PERIOD_CHOICES` that ends now began."""
    return clock.now() - _PERIODS[period]


class IncidentFilter(filters.FilterSet):
    """Of the incident list."""

    q = filters.CharFilter(label="Find", method="find", widget=_text("title, summary or INCIDENT-12"))
    status = filters.ChoiceFilter(
        label="Status",
        choices=[("active", "Not ended"), *Status.choices],
        empty_label="any",
        method="by_status",
    )
    severity = filters.ChoiceFilter(
        label="Severity",
        choices=[*((each, each) for each in Severity.values), (_NONE, "none yet")],
        empty_label="any",
        method="by_severity",
    )
    mode = filters.ChoiceFilter(
        label="Failure mode",
        choices=[*FailureMode.choices, (_NONE, "not chosen")],
        empty_label="any",
        method="by_mode",
    )
    commander = filters.CharFilter(
        label="Commander", method="by_commander", widget=_text("a name, me or none")
    )
    session = filters.CharFilter(label="Session", method="by_session", widget=_text("sess_…"))
    since = filters.ChoiceFilter(
        label="Filed in", choices=PERIOD_CHOICES, empty_label="any time", method="filed"
    )
    overdue = filters.ChoiceFilter(
        label="Overdue",
        choices=[("review", "review"), ("follow-up", "follow-up")],
        empty_label="either or nothing",
        method="by_overdue",
    )

    class Meta:
        model = Incident
        fields: list[str] = []

    def find(self, incidents: QuerySet[Incident], _name: str, text: str) -> QuerySet[Incident]:
        return queries.matching(incidents, text.strip())

    def by_status(self, incidents: QuerySet[Incident], _name: str, status: str) -> QuerySet[Incident]:
        return incidents.filter(status__in=ACTIVE if status == "active" else [status])

    def by_severity(self, incidents: QuerySet[Incident], _name: str, severity: str) -> QuerySet[Incident]:
        return incidents.filter(severity=None if severity == _NONE else severity)

    def by_mode(self, incidents: QuerySet[Incident], _name: str, mode: str) -> QuerySet[Incident]:
        return incidents.filter(failure_mode=None if mode == _NONE else mode)

    def by_commander(self, incidents: QuerySet[Incident], _name: str, name: str) -> QuerySet[Incident]:
        if name == ME:
            return incidents.filter(commander=self.request.user)
        return (
            incidents.filter(commander=None) if name == _NONE else incidents.filter(commander__username=name)
        )

    def by_session(self, incidents: QuerySet[Incident], _name: str, session_id: str) -> QuerySet[Incident]:
        return queries.affecting(incidents, session_id.strip())

    def filed(self, incidents: QuerySet[Incident], _name: str, period: str) -> QuerySet[Incident]:
        return incidents.filter(created_at__gte=begin_of(period))

    def by_overdue(self, incidents: QuerySet[Incident], _name: str, what: str) -> QuerySet[Incident]:
        if what == "review":
            return queries.with_overdue_review(incidents)
        return queries.with_overdue_follow_up(incidents)


class PeriodForm(forms.Form):
    """Of the numbers: when the incidents were opened."""

    since = forms.ChoiceField(label="Opened in", choices=[("", "all time"), *PERIOD_CHOICES], required=False)
