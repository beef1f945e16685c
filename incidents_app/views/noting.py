"""Notes, evidence, the summary, and who leads."""

from __future__ import annotations

from typing import Any

from incidents_app import actions
from incidents_app.forms.base import ActForm
from incidents_app.forms.noting import CommanderForm, EditForm, NoteForm, PinForm
from incidents_app.views.acting import Act, Press
from statebase_site.access.scopes import SESSIONS_WRITE


class Note(Act):
    """Add a line to the timeline."""

    form_class = NoteForm
    title, button, icon = "Add a note", "Add the note", "plus"
    done = "The note is in the timeline."
    needs, part = SESSIONS_WRITE, "timeline"

    def act(self, form: ActForm) -> None:
        actions.add_note(**self.said, **form.given)


class Pin(Act):
    """Keep versions and traces as evidence."""

    form_class = PinForm
    title, button, icon = "Pin evidence", "Pin", "pin"
    lead = "A copy of each is kept with its hash. It stays when the session is deleted."
    done = "Pinned: a copy of each is kept with its hash."
    needs, part = SESSIONS_WRITE, "evidence"

    def act(self, form: ActForm) -> None:
        actions.pin(**self.said, **form.given)


class Edit(Act):
    """Change title and summary."""

    form_class = EditForm
    title, button = "Title and summary", "Save"
    done = "Saved."
    needs = SESSIONS_WRITE

    def initial(self) -> dict[str, Any]:
        incident = self.about.incident
        return {
            "title": incident.title,
            "summary": incident.summary,
            "summary_revision": incident.summary_revision,
        }

    def act(self, form: ActForm) -> None:
        actions.edit(**self.said, **form.given)


class Commander(Act):
    """Take the command, or hand it over."""

    form_class = CommanderForm
    title, button, icon = "Who commands", "Hand over", "user"
    part = "people"

    def act(self, form: ActForm) -> None:
        actions.set_commander(**self.said, **form.given)


class Join(Press):
    """Help with the incident."""

    done, part, needs = "You help with this incident.", "people", SESSIONS_WRITE

    def act(self, form: ActForm) -> None:
        actions.join(**self.said)
