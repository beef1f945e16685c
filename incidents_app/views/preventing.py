"""Step 5: causes and follow-ups."""

from __future__ import annotations

from typing import Any

from incidents_app import actions, queries
from incidents_app.forms.base import ActForm
from incidents_app.forms.preventing import AssignForm, CausesForm, FollowUpForm
from incidents_app.views.acting import Act, Press


class Causes(Act):
    """Answer what enabled the failure."""

    form_class = CausesForm
    title, button = "What enabled the failure?", "Save the answers"
    done = "The answers are kept."

    def initial(self) -> dict[str, Any]:
        episode = self.about.assessed.episode
        asked = ("missing_checkpoint", "no_validation", "no_permission_check", "state_drift")
        answers = {name: getattr(episode, name) for name in asked}
        found = {name: "yes" if answer else "no" for name, answer in answers.items() if answer is not None}
        return {**found, "text": episode.causes}

    def act(self, form: ActForm) -> None:
        actions.answer_causes(**self.said, **form.given)


class FollowUp(Act):
    """Add something that has to be done."""

    form_class = FollowUpForm
    template = "incidents_app/follow_up.html"
    title, button, icon = "Add a follow-up", "Add the follow-up", "plus"
    done = "The follow-up is added."

    def act(self, form: ActForm) -> None:
        actions.add_follow_up(**self.said, **form.given)

    def context(self, form: ActForm) -> dict[str, Any]:
        return {"people": queries.people_of(self.about.incident.project_id)}


class FollowUpAssign(Act):
    """Give a follow-up an owner and a date."""

    form_class = AssignForm
    template = "incidents_app/follow_up.html"
    title, button = "Owner and date of a follow-up", "Save"
    done, on_ended = "Saved.", True

    def initial(self) -> dict[str, Any]:
        found = queries.follow_up_of(self.about.incident, self.kwargs["number"])
        return {"owner": found.owner, "due": found.due}

    def context(self, form: ActForm) -> dict[str, Any]:
        found = queries.follow_up_of(self.about.incident, self.kwargs["number"])
        return {"people": queries.people_of(self.about.incident.project_id), "follow_up": found}

    def act(self, form: ActForm) -> None:
        actions.assign_follow_up(**self.said, number=self.kwargs["number"], **form.given)


class FollowUpDone(Press):
    """A follow-up is done."""

    done, on_ended = "The follow-up is done.", True

    def act(self, form: ActForm) -> None:
        actions.finish_follow_up(**self.said, number=self.kwargs["number"])
