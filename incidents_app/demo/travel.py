"""S1, at its beginning: the travel agent that cancelled a booking is stopped; where it went wrong is open."""

from __future__ import annotations

import contextlib
from datetime import timedelta

from incidents_app import actions
from incidents_app.demo.story import Story, agent, person, session_of, trace_of_turn
from sessions_app import actions as sessions
from sessions_app import queries
from sessions_app.errors import SessionFrozen
from statebase_site.access.models import Project


def cancelled(project: Project) -> None:
    """Filed a moment after the traveller protested; it is contained, the divergence comes next."""
    maria, jon = person(project, "maria"), person(project, "jon")
    session = session_of(project, "travel-agent-corrupted")
    story = Story(session.updated_at)
    complaint = story.moment - timedelta(seconds=21)
    story.file(
        after=32,
        by=maria,
        title="Travel agent cancelled bookings nobody asked to cancel",
        severity="S1",
        session_ids=[session.public_id],
        suspects={session.public_id: 5},
        summary="Noor Haddad asked for an earlier flight to New York. The agent wrote that it had cancelled "
        "everything, and the trip is gone from its state. It goes on retrying without a destination.",
    )
    with contextlib.suppress(SessionFrozen):
        story.do(
            sessions.update_state,
            after=14,
            session_id=session.public_id,
            changes={"attempts": 3},
            reasoning="Retried the request",
            by=agent(project, "sb_9f2cQ"),
        )
    story.act(
        actions.direct_traffic,
        after=19,
        by=maria,
        traffic="human_queue",
        traffic_note="Chats about bookings go to the travel desk, extension 4.",
    )
    story.act(actions.join, after=12, by=jon)
    story.act(
        actions.add_note,
        after=17,
        by=jon,
        text="Noor protests in the chat: an earlier flight to New York was all she had asked for.",
        occurred_at=complaint,
    )
    call = next(turn for turn in queries.turns_of(session) if "cancel_booking" in str(turn.input["content"]))
    story.act(
        actions.pin,
        after=28,
        by=maria,
        session_id=session.public_id,
        versions=[4, 5],
        traces=[trace_of_turn(session, call.public_id)],
        note="The call came before the agent said anything of cancelling.",
    )
