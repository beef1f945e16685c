"""Words that pages of incidents share."""

from __future__ import annotations

from django import template

from incidents_app.presenting import words

register = template.Library()


@register.filter
def who(label: str) -> str:
    """Whose doing something was, as people say it: `maria`, `key sb_9f2c`, `the server`."""
    return words.who(label)
