"""Forms for a webhook, new or to be changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django import forms

from statebase_site.webhooks.actions import SECRET_LEAST, SECRET_MOST
from statebase_site.webhooks.addresses import URL_MOST
from statebase_site.webhooks.events import MEANINGS, Event
from statebase_site.webhooks.models import Webhook

_GROUPS = {
    "Sessions": ("session", "turn", "memory"),
    "Audit trail": ("trace", "write"),
    "Incidents": ("incident",),
}
_VERY_MANY = {Event.TRACE_CREATED}


@dataclass(frozen=True, slots=True)
class Choice:
    """One event to tick, with what it means."""

    id: str
    value: str
    meaning: str
    is_ticked: bool
    are_very_many: bool


class WebhookForm(forms.Form):
    """Address and events of a webhook."""

    url = forms.CharField(
        label="URL",
        max_length=URL_MOST,
        help_text="https or http. Any answer 2xx counts as heard; redirects are not followed.",
        widget=forms.URLInput(
            attrs={
                "placeholder": "https://example.org/hooks/statebase",
                "autocomplete": "off",
                "spellcheck": "false",
            }
        ),
    )
    events = forms.MultipleChoiceField(
        label="It hears of",
        choices=[(str(event), str(event)) for event in Event],
        error_messages={"required": "Tick at least one."},
    )

    def changes_to(self, webhook: Webhook) -> dict[str, Any]:
        """What is to be changed of the webhook that the form was about."""
        url, events = self.cleaned_data["url"], self.cleaned_data["events"]
        return {
            "url": None if url == webhook.url else url,
            "events": None if set(events) == set(webhook.events) else events,
        }

    @property
    def groups(self) -> Iterator[tuple[str, list[Choice]]]:
        """The events to tick, under the names of their groups."""
        field = self["events"]
        ticked = {str(each) for each in field.value() or ()}
        for name, kinds in _GROUPS.items():
            yield (
                name,
                [
                    Choice(
                        f"{field.auto_id}_{number}",
                        event,
                        MEANINGS[event],
                        event in ticked,
                        event in _VERY_MANY,
                    )
                    for number, event in enumerate(Event)
                    if event.partition(".")[0] in kinds
                ],
            )


class NewWebhookForm(WebhookForm):
    """The same with its secret; `cleaned_data` is what `create_webhook` takes."""

    secret = forms.CharField(
        min_length=SECRET_LEAST,
        max_length=SECRET_MOST,
        required=False,
        help_text="Signs what is sent. Left empty, a long random one is made, which is best.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )

    def clean_secret(self) -> Any:
        return self.cleaned_data["secret"] or None
