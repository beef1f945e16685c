"""Who may do what: projects, members, API keys, signing in."""

from django.apps import AppConfig


class AccessConfig(AppConfig):
    name = "statebase_site.access"
    label = "access"
