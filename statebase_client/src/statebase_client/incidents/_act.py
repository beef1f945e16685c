"""What most calls about an incident are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statebase_client.calls import Request, path, reads
from statebase_client.incident_results import Incident


def act(
    incident_id: str, what: str, body: Mapping[str, Any], idempotency_key: str | None
) -> Request[Incident]:
    """A step of the incident, answered with the incident as it is afterwards."""
    address = path("incidents", incident_id, what)
    return Request("POST", address, reads(Incident), body, idempotency_key=idempotency_key)
