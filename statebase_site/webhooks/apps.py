"""Webhooks and their deliveries."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "statebase_site.webhooks"
    label = "webhooks"
