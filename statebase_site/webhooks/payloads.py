"""What the API and deliveries show of a webhook (contract 6.9)."""

from __future__ import annotations

from typing import Any

from statebase_site.base.clock import isoformat
from statebase_site.webhooks.models import Webhook


def webhook(of: Webhook) -> dict[str, Any]:
    """A webhook without its secret."""
    return {
        "object": "webhook",
        "id": of.public_id,
        "url": of.url,
        "events": of.events,
        "is_active": of.is_active,
        "created_at": isoformat(of.created_at),
    }
