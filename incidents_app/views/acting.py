"""What every act on an incident shares: GET shows its form, POST does it once, and nothing typed is lost."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.views import View

from incidents_app.errors import GateUnmet
from incidents_app.forms.base import About, ActForm
from incidents_app.presenting.gates import missing
from incidents_app.presenting.why_not import why_not
from incidents_app.rules import Unmet
from incidents_app.views.scope import person_and_incident
from statebase_site.access.idempotency import IdempotencyConflict, recall
from statebase_site.access.scopes import INCIDENT_MANAGE
from statebase_site.base.errors import DomainError, InvalidInput, NotFound, TooLarge
from statebase_site.web.errors import status_of
from statebase_site.web.times import ViewerTimes

LOOK = "look"
"""Name of the buttons that show the same form again with something else beside it, and do nothing."""


class Act(View):
    """One act with a page of its own. A subclass names form and words, and calls one action in `act`.

    `needs` is the scope it takes, `commands` whether it takes the command, `on_ended` whether it may be done
    to an incident that has ended. An act leads back to the top of the incident's page, where it says what was
    done and what comes next; or to `part` of the page, where there is more of the kind to do.
    """

    http_method_names = ["get", "head", "post"]
    form_class: ClassVar[type[ActForm]] = ActForm
    template: ClassVar[str] = "incidents_app/act.html"
    title: ClassVar[str] = ""
    lead: ClassVar[str] = ""
    button: ClassVar[str] = ""
    icon: ClassVar[str] = "check"
    tone: ClassVar[str] = "primary"
    done: ClassVar[str] = ""
    needs: ClassVar[str] = INCIDENT_MANAGE
    commands: ClassVar[bool] = False
    on_ended: ClassVar[bool] = False
    part: ClassVar[str] = ""

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Find whose incident it is. Raises `IncidentNotFound`."""
        super().setup(request, *args, **kwargs)
        by, incident = person_and_incident(request, kwargs["reference"])
        self.about = About(by, incident, ViewerTimes.of(request))
        self.look = request.POST.get(LOOK, "")

    def get(self, request: HttpRequest, **_: Any) -> HttpResponse:
        return self.page(self.form_class(about=self.about, initial=self.initial()))

    def post(self, request: HttpRequest, **_: Any) -> HttpResponse:
        if self.look:
            return self.page(self.form_class.typed_in(request.POST, about=self.about))
        form = self.sent(request.POST)
        if not form.is_valid():
            return self.back() if self.acted_before() else self.page(form, status=422)
        try:
            self.act(form)
        except NotFound:
            raise
        except DomainError as refusal:
            return self.refused(form, refusal)
        self.tell(form)
        return self.back()

    # What subclasses say ----------------------------------------------------------------------------

    def initial(self) -> dict[str, Any]:
        """What the form holds at first: what the address says."""
        return {name: value for name, value in self.request.GET.items() if value}

    def sent(self, data: QueryDict) -> ActForm:
        """The form as it was sent."""
        return self.form_class(data, about=self.about)

    def act(self, form: ActForm) -> None:
        """Call the action with `form.given`."""
        raise NotImplementedError

    def context(self, form: ActForm) -> dict[str, Any]:
        """What the page shows beside the form."""
        return {}

    def tell(self, form: ActForm) -> None:
        """Say what was done."""
        if self.done:
            messages.success(self.request, self.done)

    def acted_before(self) -> bool:
        """Whether this very form acted already: what it asks for may be impossible since."""
        try:
            return recall(self.about.by) is not None
        except IdempotencyConflict:
            return False

    # What they share --------------------------------------------------------------------------------

    @property
    def said(self) -> dict[str, Any]:
        """Whose act it is, for the action."""
        return {"reference": self.about.incident.reference, "by": self.about.by}

    def window(self) -> int | None:
        """Round which version the picker shows its window: as the address or the pressed button says."""
        said = self.look.removeprefix("at:") if self.look else self.request.GET.get("at", "")
        return int(said) if said.isascii() and said.isdigit() and len(said) <= 9 else None

    def off(self) -> str:
        """Why the person may not do it; empty where they may."""
        return why_not(
            self.about.by,
            self.about.incident,
            needs=self.needs,
            commands=self.commands,
            on_ended=self.on_ended,
        )

    def back(self) -> HttpResponseRedirect:
        """To the incident's page."""
        part = f"#{self.part}" if self.part else ""
        return redirect(f"{self.about.incident.get_absolute_url()}{part}")

    def refused(self, form: ActForm, refusal: DomainError) -> HttpResponse:
        """The page again, with what was typed and why it was not done."""
        unmet: list[Unmet] = []
        words = refusal.in_words
        if isinstance(refusal, GateUnmet):
            unmet, words = refusal.unmet, f"{refusal.attempt}."
        elif isinstance(refusal, IdempotencyConflict):
            words = (
                "This form was sent before, and acted. Look at the incident, then send it again if need be."
            )
        form.refuse(refusal, words)
        status = 422 if isinstance(refusal, (InvalidInput, TooLarge)) else status_of(refusal)
        return self.page(form, status=status, missing=missing(self.about.incident, unmet))

    def page(self, form: ActForm, *, status: int = 200, **more: Any) -> HttpResponse:
        """The page of the act."""
        context = {
            "nav_current": "incidents",
            "incident": self.about.incident,
            "form": form,
            "act": self,
            "off": self.off(),
        }
        return render(self.request, self.template, context | self.context(form) | more, status=status)


class Press(Act):
    """An act that asks nothing: a button on the incident's page. What is missing has a page of its own."""

    http_method_names = ["post"]
    template = "incidents_app/unmet.html"

    def refused(self, form: ActForm, refusal: DomainError) -> HttpResponse:
        """Only what is missing has a page here; other refusals have that of every refusal."""
        if isinstance(refusal, GateUnmet):
            found = missing(self.about.incident, refusal.unmet)
            return self.page(form, status=409, missing=found, refusal=refusal)
        raise refusal
