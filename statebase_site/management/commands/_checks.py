"""Which system checks a command waits for."""

from django.core.checks import Tags

OF_SETTINGS = (Tags.security, Tags.compatibility)
"""Those of what was set, without those that import every page: for commands that serve none."""
