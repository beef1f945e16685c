"""Where each thing about an incident is done: addresses of pages and forms, and places on its own page."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from incidents_app.enums import Severity, Step
from incidents_app.matrix import MATRIX
from incidents_app.models import AffectedSession, Incident
from incidents_app.rules import Unmet

_PAGE_OF = {
    "severity": "severity",
    "prevention": "causes",
    "followup_missing": "follow-up",
    "review": "review",
}
_PAGE_OF_SESSION = {"divergence": "divergence", "rollback": "rollback", "correction": "correct"}
_ASKING_SESSION = {"reconstruct": "pin", "session_frozen": "resume"}
_PART_OF_PAGE = {
    "freeze": "runbook",
    "shared_session": "runbook",
    "effect_undecided": "effects",
    "scenario": "scenarios",
    "followup_open": "follow-ups",
    "followup_owner": "follow-ups",
    "review_approval": "review",
    "watch_window": "duties",
}


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of one incident."""

    reference: str
    severity: str | None = None

    @classmethod
    def of(cls, incident: Incident) -> Addresses:
        """The addresses of an incident."""
        return cls(incident.reference, incident.severity)

    @property
    def page(self) -> str:
        """The incident page."""
        return reverse("incidents:incident", args=[self.reference])

    def act(self, name: str, *parts: object, **asked: object) -> str:
        """Where the act `name` is done; `asked` is what its form is filled with."""
        address = reverse(f"incidents:{name}", args=[self.reference, *parts])
        return f"{address}?{urlencode(asked)}" if asked else address

    def place(self, anchor: str, **asked: str) -> str:
        """A part of the incident page; `asked` is what the page is opened with."""
        return f"{self.page}{f'?{urlencode(asked)}' if asked else ''}#{anchor}"

    def resume(self, session_id: str | None) -> str:
        """The page that lets one session go on, or all of them."""
        return self.act("resume", **({"session_id": session_id} if session_id else {}))

    def of_step(self, row: AffectedSession, step: Step) -> str:
        """Where a step is done, or where what it did is seen."""
        session_id = row.session_id
        match step:
            case Step.FREEZE:
                if row.freeze_version is not None:
                    return reverse("sessions:version", args=[session_id, row.freeze_version])
                return reverse("sessions:time-machine", args=[session_id])
            case Step.RECONSTRUCT:
                return self.act("pin", session_id=session_id)
            case Step.DIVERGENCE:
                return self.act("divergence", session_id)
            case Step.ROLLBACK:
                corrects = self.severity is not None and MATRIX[Severity(self.severity)].corrects
                return self.act("correct" if corrects else "rollback", session_id)
            case Step.PREVENT:
                return self.place("prevention")
            case Step.RESUME:
                return self.resume(session_id)

    def of_unmet(self, unmet: Unmet) -> str:
        """Where a condition that is not met is met: each code of contract 16 has its place."""
        code, session_id = unmet.code, unmet.session_id
        if code in _PAGE_OF:
            return self.act(_PAGE_OF[code])
        if session_id and code in _PAGE_OF_SESSION:
            return self.act(_PAGE_OF_SESSION[code], session_id)
        if session_id and code in _ASKING_SESSION:
            return self.act(_ASKING_SESSION[code], session_id=session_id)
        if session_id and code == "freeze":
            return self.place("runbook", at=session_id)
        return self.place(_PART_OF_PAGE.get(code, "main"))
