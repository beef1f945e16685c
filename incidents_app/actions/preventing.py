"""Step 5: what enabled it, and what is done about it."""

from __future__ import annotations

from datetime import date

from incidents_app import queries
from incidents_app.actions._work import Work, incident_action
from incidents_app.enums import EventKind, FollowUpKind
from incidents_app.limits import check_line, check_text
from incidents_app.models import FollowUp
from statebase_site.access.scopes import INCIDENT_MANAGE
from statebase_site.base.errors import InvalidInput

QUESTIONS = {
    "missing_checkpoint": "Missing checkpoint?",
    "no_validation": "No validation?",
    "no_permission_check": "No permission check?",
    "state_drift": "State drift?",
}
"""The four questions of seed 2, step 5."""


@incident_action(INCIDENT_MANAGE, to="answer what enabled the failure")
def answer_causes(
    work: Work,
    *,
    text: str,
    missing_checkpoint: bool = False,
    no_validation: bool = False,
    no_permission_check: bool = False,
    state_drift: bool = False,
) -> None:
    """Answer the four questions and say in words what enabled the failure."""
    episode = work.episode
    episode.causes = check_text(text, "text")
    answers = {
        "missing_checkpoint": missing_checkpoint,
        "no_validation": no_validation,
        "no_permission_check": no_permission_check,
        "state_drift": state_drift,
    }
    before = {name: getattr(episode, name) for name in answers}
    for name, answer in answers.items():
        setattr(episode, name, answer)
    episode.answered_at, episode.answered_by = work.moment, work.by.label
    episode.save()
    found = [QUESTIONS[name].rstrip("?").lower() for name, answer in answers.items() if answer]
    work.tell(
        EventKind.PREVENTION,
        f"Enabled by {', '.join(found) if found else 'none of the four'}: {episode.causes}",
        details={"from": {**before}, "to": {**answers}, "text": episode.causes},
    )


@incident_action(INCIDENT_MANAGE, to="add a follow-up")
def add_follow_up(
    work: Work,
    *,
    text: str,
    owner: str | None = None,
    due: date | None = None,
    kind: str | None = None,
    blocks: bool = False,
) -> None:
    """Add something that has to be done; only one that `blocks` stands in the way of resolving."""
    kind = kind or FollowUpKind.OTHER
    if kind not in FollowUpKind.values:
        raise InvalidInput(
            f"There is no kind {kind!r}: choose {', '.join(FollowUpKind.values)}.", param="kind"
        )
    number = work.incident.follow_ups.count() + 1
    made = FollowUp.objects.create(
        incident=work.incident,
        number=number,
        text=check_text(text, "text"),
        kind=kind,
        owner=check_line(owner, "owner", most=160, required=False),
        due=due,
        blocks=blocks,
        created_at=work.moment,
        created_by=work.by.label,
    )
    work.tell(
        EventKind.FOLLOW_UP,
        f"Follow-up {number}: {made.text}",
        details={"number": number, "owner": made.owner, "due": str(due) if due else None, "blocks": blocks},
    )


@incident_action(INCIDENT_MANAGE, to="assign a follow-up", on_ended=True)
def assign_follow_up(work: Work, *, number: int, owner: str, due: date | None) -> None:
    """Give a follow-up an owner and a date. Raises `FollowUpNotFound`."""
    found = queries.follow_up_of(work.incident, number)
    before = {"owner": found.owner, "due": str(found.due) if found.due else None}
    found.owner, found.due = check_line(owner, "owner", most=160, required=False), due
    found.save(update_fields=["owner", "due"])
    work.tell(
        EventKind.FOLLOW_UP,
        f"Follow-up {number} is {found.owner or 'nobody'}'s{f', due {due}' if due else ''}.",
        details={"number": number, "from": {**before}, "to": {"owner": found.owner, "due": str(due)}},
    )


@incident_action(INCIDENT_MANAGE, to="end a follow-up", on_ended=True)
def finish_follow_up(work: Work, *, number: int) -> None:
    """Mark a follow-up as done; also after the incident was closed. Raises `FollowUpNotFound`."""
    found = queries.follow_up_of(work.incident, number)
    if found.done_at is not None:
        return
    found.done_at, found.done_by = work.moment, work.by.label
    found.save(update_fields=["done_at", "done_by"])
    work.tell(EventKind.FOLLOW_UP, f"Follow-up {number} is done: {found.text}", details={"number": number})
