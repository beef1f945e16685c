"""What can go wrong with webhooks."""

from statebase_site.base.errors import Conflict, InvalidInput, NotFound


class WebhookNotFound(NotFound):
    """No such webhook in the actor's project."""

    code = "webhook_not_found"

    def __init__(self, webhook_id: str) -> None:
        super().__init__(f"There is no webhook {webhook_id!r} in this project.", param="webhook_id")


class DeliveryNotFound(NotFound):
    """No such delivery of the webhook, or no longer."""

    code = "delivery_not_found"

    def __init__(self, event_id: str) -> None:
        super().__init__(f"This webhook has no delivery {event_id!r}.", param="event_id")


class CannotSendAgain(Conflict):
    """What the delivery was about is gone, or it is on its way already."""

    code = "cannot_send_again"


class AddressRefused(InvalidInput):
    """A webhook may not send there."""
