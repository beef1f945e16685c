"""The composition root as an app: its management commands and system checks."""

from django.apps import AppConfig


class StateBaseSiteConfig(AppConfig):
    name = "statebase_site"
    label = "statebase_site"

    def ready(self) -> None:
        from statebase_site import checks  # noqa: F401 - importing it registers the checks
