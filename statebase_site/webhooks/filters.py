"""The filter of deliveries: in the address, so that any selection is a link."""

import django_filters as filters
from django import forms

from statebase_site.webhooks.events import TEST, Event
from statebase_site.webhooks.models import Delivery, DeliveryState


class DeliveryFilter(filters.FilterSet):
    """Of the deliveries of one webhook."""

    state = filters.ChoiceFilter(label="State", choices=DeliveryState.choices, empty_label="any")
    event = filters.ChoiceFilter(
        label="Event", choices=[(str(event), str(event)) for event in (*Event, TEST)], empty_label="any"
    )
    id = filters.CharFilter(
        label="Event id",
        field_name="event_id",
        widget=forms.TextInput(
            attrs={
                "placeholder": "evt_… as the receiver saw it",
                "autocomplete": "off",
                "spellcheck": "false",
            }
        ),
    )

    class Meta:
        model = Delivery
        fields: list[str] = []
