"""The filter of deliveries: in the address, so that any selection is a link."""

import django_filters as filters

from statebase_site.webhooks.events import Event
from statebase_site.webhooks.models import Delivery, DeliveryState


class DeliveryFilter(filters.FilterSet):
    """Of the deliveries of one webhook."""

    state = filters.ChoiceFilter(label="State", choices=DeliveryState.choices, empty_label="any")
    event = filters.ChoiceFilter(
        label="Event", choices=[(str(event), str(event)) for event in Event], empty_label="any"
    )

    class Meta:
        model = Delivery
        fields: list[str] = []
