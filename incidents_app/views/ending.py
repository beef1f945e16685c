"""Resolving, closing, declining, merging, reopening, overriding."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponseRedirect
from django.shortcuts import redirect

from incidents_app import actions
from incidents_app.forms.base import ActForm
from incidents_app.forms.ending import DeclineForm, MergeForm, OverrideForm, ReopenForm
from incidents_app.views.acting import Act, Press
from statebase_site.access.scopes import FULL


class Resolve(Press):
    """Say that it is over."""

    commands, done = True, "Resolved. The review is next."

    def act(self, form: ActForm) -> None:
        actions.resolve(**self.said)


class Close(Press):
    """End it."""

    commands, done = True, "Closed. Its sessions are held no longer."

    def act(self, form: ActForm) -> None:
        actions.close(**self.said)


class Reopen(Act):
    """Begin a new episode."""

    form_class = ReopenForm
    title, button, icon = "Reopen", "Reopen", "undo"
    lead = (
        "A new episode begins: its sessions are held again, and those of an S1 frozen at once; "
        "the old times and the old review stay readable."
    )
    done, on_ended = "Reopened: a new episode begins.", True

    def act(self, form: ActForm) -> None:
        actions.reopen(**self.said, **form.given)


class Decline(Act):
    """Say that it is no incident."""

    form_class = DeclineForm
    title, button = "Decline: it is no incident", "Decline"
    lead = "It ends without recovery or review, and lets its sessions go as evidence. It can be reopened."
    done = "Declined."

    def act(self, form: ActForm) -> None:
        actions.decline(**self.said, **form.given)


class Merge(Act):
    """Merge it into another."""

    form_class = MergeForm
    template = "incidents_app/choosing_one.html"
    title, button = "Merge into another incident", "Merge"
    lead = "Its sessions, evidence and follow-ups go over to the other one; this one becomes its duplicate."
    nothing = ("No other incident is open", "There is nothing to merge this one into.")

    def act(self, form: ActForm) -> None:
        actions.merge(**self.said, **form.given)

    def tell(self, form: ActForm) -> None:
        messages.success(self.request, f"{self.about.incident.reference} was merged into this one.")

    def back(self) -> HttpResponseRedirect:
        """To the other one, where it goes on."""
        return redirect("incidents:incident", self.request.POST["into"])


class Override(Act):
    """Pass over a condition."""

    form_class = OverrideForm
    template = "incidents_app/choosing_one.html"
    lead = "The condition stays unmet, and is passed over. Do this only where it can't be met."
    nothing = ("Nothing is unmet", "Every condition for resolving and closing is met already.")
    title, button, tone = "Override a condition", "Override", "danger"
    done, needs = "Overridden; the page and every export show it.", FULL

    def act(self, form: ActForm) -> None:
        actions.override(**self.said, **form.given)
