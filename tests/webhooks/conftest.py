"""A receiver on this machine, webhooks that send to it, and the worker's part done at once."""

from __future__ import annotations

from typing import Any

import pytest

from statebase_site.webhook_data import data_of
from statebase_site.webhooks import delivering
from statebase_site.webhooks.events import Event
from statebase_site.webhooks.models import Delivery, Webhook
from tests.api.conftest import agent, api, project, remembering, stranger, with_scopes
from tests.webhooks.receiver import Receiver

__all__ = ["agent", "api", "project", "remembering", "stranger", "with_scopes"]


@pytest.fixture
def receiver(settings):
    """One that the settings allow to be reached."""
    settings.WEBHOOK_PRIVATE_NETWORKS = True
    made = Receiver()
    yield made
    made.end()


@pytest.fixture
def webhook(api, receiver):
    """Makes a webhook of the project; without events it hears of everything but every trace."""

    def make(*events: str, url: str | None = None, by: Any = None, **fields: Any) -> Webhook:
        wanted = events or [event for event in Event if event != Event.TRACE_CREATED]
        body = {"url": url or receiver.url, "events": [str(each) for each in wanted], **fields}
        made = (by or api).json("POST", "/v1/webhooks", body, status=201)
        return Webhook.objects.get(public_id=made["id"])

    return make


def work() -> list[Delivery]:
    """Send everything that is due, as the worker would; returns it as it is afterwards."""
    sent = []
    while claimed := delivering.claim(delivering.SENDERS):
        for delivery in claimed:
            delivering.deliver(delivery, data_of)
            sent.append(Delivery.objects.get(pk=delivery.pk))
    return sent
