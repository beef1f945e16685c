"""Notes, evidence, the summary, and who leads."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse

from incidents_app import actions
from incidents_app.errors import EditConflict
from incidents_app.forms.base import ActForm
from incidents_app.forms.noting import CommanderForm, EditForm, NoteForm, PinForm
from incidents_app.presenting.picker import numbers_in
from incidents_app.presenting.pinning import pinning
from incidents_app.views.acting import Act, Press
from statebase_site.access.scopes import SESSIONS_WRITE
from statebase_site.base.errors import DomainError


class Note(Act):
    """Add a line to the timeline."""

    form_class = NoteForm
    title, button, icon = "Add a note", "Add the note", "plus"
    done = "The note is in the timeline."
    template = "incidents_app/note.html"
    needs, part = SESSIONS_WRITE, "timeline"

    def context(self, form: ActForm) -> dict[str, Any]:
        row = numbers_in(form["supersedes"])
        events = self.about.incident.events
        return {"corrected": events.filter(sequence=row[0]).first() if row else None}

    def act(self, form: ActForm) -> None:
        actions.add_note(**self.said, **form.given)


class Pin(Act):
    """Keep versions and traces as evidence."""

    form_class = PinForm
    title, button, icon = "Pin evidence", "Pin", "pin"
    lead = "A copy of each is kept with its hash. It stays when the session is deleted."
    done = "Pinned: a copy of each is kept with its hash."
    template = "incidents_app/pin.html"
    needs = SESSIONS_WRITE

    def initial(self) -> dict[str, Any]:
        asked = self.request.GET
        return {name: asked.getlist(name) for name in ("versions", "traces")} | {
            "session_id": asked.get("session_id")
        }

    def context(self, form: ActForm) -> dict[str, Any]:
        chosen = str(form["session_id"].value() or "")
        row = next((each for each in self.about.rows if each.session_id == chosen), None)
        if row is None:
            return {"rows": self.about.rows}
        return {"row": row} | pinning(self.about.by, row, form, at=self.window())

    def act(self, form: ActForm) -> None:
        actions.pin(**self.said, **form.given)


class Edit(Act):
    """Change title and summary."""

    form_class = EditForm
    template = "incidents_app/edit.html"
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

    def refused(self, form: ActForm, refusal: DomainError) -> HttpResponse:
        """Somebody else changed the summary meanwhile: theirs is shown beside the person's own."""
        if not isinstance(refusal, EditConflict):
            return super().refused(form, refusal)
        form.refuse(refusal, refusal.in_words)
        form.see(summary=refusal.current, summary_revision=refusal.revision)
        return self.page(form, status=409, theirs=refusal)


class Commander(Act):
    """Take the command, or hand it over."""

    form_class = CommanderForm
    title, button, icon = "Who commands", "Hand over", "user"
    part = "people"

    @property
    def commands(self) -> bool:  # type: ignore[override]
        """Anyone who may manage incidents takes the command of one that has none."""
        return self.about.incident.commander_id is not None

    def initial(self) -> dict[str, Any]:
        """Who opens it takes the command; who has it hands it over."""
        return {
            "name": "" if self.commands else self.about.by.label.removeprefix("user:")
        } | super().initial()

    def tell(self, form: ActForm) -> None:
        messages.success(self.request, f"{form.given['name']} commands now.")

    def act(self, form: ActForm) -> None:
        actions.set_commander(**self.said, **form.given)


class Join(Press):
    """Help with the incident."""

    done, part, needs = "You help with this incident.", "people", SESSIONS_WRITE

    def act(self, form: ActForm) -> None:
        actions.join(**self.said)
