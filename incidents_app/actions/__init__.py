"""Every write of this app. All take keywords only, `reference` (`INCIDENT-12`) and `by`, the actor.

They raise domain errors and know no status codes. What an action does to a session is in the same transaction
as what the incident records of it; only what concerns many sessions goes session by session. With an
idempotency key on `by.request`, a repeated call does nothing a second time.
"""

from incidents_app.actions._work import IncidentWritten
from incidents_app.actions.ending import close, decline, merge, override, reopen, resolve
from incidents_app.actions.filing import Filed, add_session, file
from incidents_app.actions.noticing import take_notice, take_notice_of_all
from incidents_app.actions.noting import add_note, edit, join, pin, set_commander
from incidents_app.actions.preventing import (
    QUESTIONS,
    add_follow_up,
    answer_causes,
    assign_follow_up,
    finish_follow_up,
)
from incidents_app.actions.recovering import (
    correct,
    decide_effect,
    record_divergence,
    resume,
    rollback,
)
from incidents_app.actions.reviewing import approve_review, write_review
from incidents_app.actions.scenarios import ScenarioWritten, create_scenario, report_run, request_run
from incidents_app.actions.securing import direct_traffic, freeze
from incidents_app.actions.severity import change_severity, exempt

__all__ = [
    "QUESTIONS",
    "Filed",
    "IncidentWritten",
    "ScenarioWritten",
    "add_follow_up",
    "add_note",
    "add_session",
    "answer_causes",
    "approve_review",
    "assign_follow_up",
    "change_severity",
    "close",
    "correct",
    "create_scenario",
    "decide_effect",
    "decline",
    "direct_traffic",
    "edit",
    "exempt",
    "file",
    "finish_follow_up",
    "freeze",
    "join",
    "merge",
    "override",
    "pin",
    "record_divergence",
    "reopen",
    "report_run",
    "request_run",
    "resolve",
    "resume",
    "rollback",
    "set_commander",
    "take_notice",
    "take_notice_of_all",
    "write_review",
]
