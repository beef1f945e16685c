"""Resolving, closing, declining, merging, reopening, overriding."""

from __future__ import annotations

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
    title, button = "Reopen", "Reopen"
    done, on_ended = "Reopened: a new episode begins.", True

    def act(self, form: ActForm) -> None:
        actions.reopen(**self.said, **form.given)


class Decline(Act):
    """Say that it is no incident."""

    form_class = DeclineForm
    title, button = "Decline", "Decline"
    done = "Declined."

    def act(self, form: ActForm) -> None:
        actions.decline(**self.said, **form.given)


class Merge(Act):
    """Merge it into another."""

    form_class = MergeForm
    title, button = "Merge into another incident", "Merge"

    def act(self, form: ActForm) -> None:
        actions.merge(**self.said, **form.given)


class Override(Act):
    """Pass over a condition."""

    form_class = OverrideForm
    title, button, tone = "Override a condition", "Override", "danger"
    done, needs, part = "Overridden; the page and every export show it.", FULL, "gates"

    def act(self, form: ActForm) -> None:
        actions.override(**self.said, **form.given)
