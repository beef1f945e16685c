"""What the form of the review shows beside its fields."""

from __future__ import annotations

from typing import Any

from incidents_app.actions import QUESTIONS
from incidents_app.enums import Severity
from incidents_app.forms.base import About, ActForm
from incidents_app.forms.reviewing import FAILURE_MODES
from incidents_app.matrix import MATRIX
from incidents_app.models import AffectedSession
from incidents_app.presenting.picker import Column, numbers_in, picker
from sessions_app import queries as sessions
from sessions_app.errors import SessionNotFound


def reviewing(about: About, form: ActForm, *, at: int | None) -> dict[str, Any]:
    """Failure modes, what enabled the failure, and the timeline on which the missing checkpoint is picked."""
    episode, peak = about.assessed.episode, about.incident.peak_severity
    chosen_mode = form["failure_mode"].value()
    row = _session(about, str(form["checkpoint_session"].value() or ""))
    return {
        "modes": [(mode, words, mode == chosen_mode) for mode, words in FAILURE_MODES.items()],
        "causes": [words.rstrip("?") for name, words in QUESTIONS.items() if getattr(episode, name)],
        "episode": episode,
        "is_light": not (peak and MATRIX[Severity(peak)].review_by_another),
        "rows": about.rows,
        "row": row,
        **_timeline(about, row, form, at=at),
    }


def _timeline(about: About, row: AffectedSession | None, form: ActForm, *, at: int | None) -> dict[str, Any]:
    if row is None:
        return {}
    try:
        agent_session = sessions.session_for(about.by, row.session_id)
    except SessionNotFound:
        return {}
    column = Column("checkpoint_after", "missing after this", "m", numbers_in(form["checkpoint_after"]))
    middle = row.last_good_version if at is None else at
    return {"picker": picker(agent_session, row, [column], at=middle)}


def _session(about: About, chosen: str) -> AffectedSession | None:
    """The session that is shown: the chosen one, else the first with a divergence, else the first."""
    rows = about.rows
    found = [row for row in rows if row.session_id == chosen]
    found += [row for row in rows if row.divergence_version is not None]
    return next(iter([*found, *rows]), None)
