"""The post-incident review."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from incidents_app import actions
from incidents_app.errors import EditConflict
from incidents_app.forms.base import ActForm
from incidents_app.forms.reviewing import ReviewForm
from incidents_app.presenting.reviewing import reviewing
from incidents_app.views.acting import Act, Press
from statebase_site.base.errors import DomainError


class Review(Act):
    """Write the review."""

    form_class = ReviewForm
    template = "incidents_app/review_form.html"
    title, button = "Post-incident review", "Save the review"
    done = "The review is saved."

    def initial(self) -> dict[str, Any]:
        episode = self.about.assessed.episode
        return {
            "failure_mode": self.about.incident.failure_mode,
            "checkpoint_session": episode.checkpoint_session,
            "checkpoint_after": episode.checkpoint_after,
            "no_checkpoint_why": episode.no_checkpoint_why,
            "lessons": episode.lessons,
            "scenario_id": episode.review_scenario.public_id if episode.review_scenario else "",
        }

    def act(self, form: ActForm) -> None:
        actions.write_review(**self.said, **form.given)

    def refused(self, form: ActForm, refusal: DomainError) -> HttpResponse:
        """Somebody else wrote other lessons meanwhile: theirs are shown beside the person's own."""
        if not isinstance(refusal, EditConflict):
            return super().refused(form, refusal)
        form.refuse(refusal, refusal.in_words)
        form.see(lessons=refusal.current)
        return self.page(form, status=409, theirs=refusal.current)

    def context(self, form: ActForm) -> dict[str, Any]:
        return reviewing(self.about, form, at=self.window())


class Approve(Press):
    """Approve the review."""

    done = "The review is approved."

    def act(self, form: ActForm) -> None:
        actions.approve_review(**self.said)
