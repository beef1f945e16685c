"""Copies that incidents keep of sessions go with an erased user (contract 6.9).

Only those of incidents that are over: an open one holds the session, and the erasure is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incidents_app.models import AffectedSession, Effect, Pin, Scenario
from statebase_site.access.models import Project
from statebase_site.base import json


def erase_copies(*, keys: Sequence[int], **_: Any) -> None:
    """Remove the pins, and empty the tool calls and scenario states, of the sessions with these `keys`.

    Part of the erasure's transaction.
    """
    affected = AffectedSession.objects.filter(agent_session__in=keys)
    session_ids = set(affected.values_list("session_id", flat=True))
    projects = Project.objects.filter(pk__in=affected.values("episode__incident__project"))
    project_keys = list(projects.values_list("pk", flat=True))
    # The trigger lets pins go while their project is marked, which nobody else sees.
    Project.objects.filter(pk__in=project_keys).update(purging=True)
    pins = Pin._base_manager.filter(affected__in=list(affected.values_list("pk", flat=True)))
    pins._raw_delete(pins.db)
    Project.objects.filter(pk__in=project_keys).update(purging=False)
    Effect.objects.filter(affected__in=affected).update(arguments_text="null")
    for scenario in Scenario.objects.filter(session_id__in=session_ids):
        scenario.fault_text = json.dumps({"kind": scenario.fault_kind})
        scenario.good_state_text, scenario.bad_state_text = "{}", None
        scenario.save(update_fields=["fault_text", "good_state_text", "bad_state_text"])
