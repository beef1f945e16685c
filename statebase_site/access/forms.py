"""Forms for a new API key and a new password."""

from datetime import timedelta
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm

from statebase_site.access import scopes
from statebase_site.access.actions import NAME_MOST
from statebase_site.access.models import Role
from statebase_site.access.rates import RATE_LIMIT_MOST
from statebase_site.base import clock

_SCOPE_CHOICES = (
    (scopes.SESSIONS_READ, "read sessions, states, versions and turns"),
    (scopes.SESSIONS_WRITE, "create, update, roll back, fork, add turns, freeze"),
    (scopes.SESSIONS_DELETE, "delete sessions"),
    (scopes.MEMORY_READ, "search and read memories"),
    (scopes.MEMORY_WRITE, "add, change and delete memories"),
    (scopes.TRACES_READ, "read traces"),
    (scopes.KEYS_MANAGE, "make and revoke keys"),
    (scopes.INCIDENT_MANAGE, "resume, and roll back while frozen"),
    (scopes.FULL, "everything: for a responder, never for an agent"),
)
_FOR_AN_AGENT = [scopes.SESSIONS_READ, scopes.SESSIONS_WRITE, scopes.MEMORY_READ, scopes.MEMORY_WRITE]
_LIFETIMES = {"": "never", "7": "in 7 days", "30": "in 30 days", "90": "in 90 days", "365": "in a year"}


class KeyForm(forms.Form):
    """Name, scopes and expiry; `cleaned_data` is what `create_key` takes."""

    name = forms.CharField(
        max_length=NAME_MOST, help_text="Where the key will be used, such as: travel-agent in production."
    )
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=[(scope, f"{scope}: {words}") for scope, words in _SCOPE_CHOICES],
        initial=_FOR_AN_AGENT,
        widget=forms.CheckboxSelectMultiple,
        help_text="What is ticked at first suits an agent: it can freeze itself, but not resume or delete.",
        error_messages={"required": "Tick at least one."},
    )
    rate_limit = forms.IntegerField(
        label="Requests a minute",
        min_value=0,
        max_value=RATE_LIMIT_MOST,
        required=False,
        initial=lambda: settings.DEFAULT_RATE_LIMIT,
        help_text="Twice as many may come at once; what is more is refused with 429. 0: no limit.",
    )
    expires = forms.ChoiceField(label="It expires", choices=_LIFETIMES.items(), required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        days = cleaned.pop("expires", "")
        cleaned["expires_at"] = clock.now() + timedelta(days=int(days)) if days else None
        if "rate_limit" in cleaned and cleaned["rate_limit"] is None:
            cleaned["rate_limit"] = settings.DEFAULT_RATE_LIMIT
        return cleaned


_ALLOWED = {
    Role.VIEWER: "Reads sessions, traces, memories and incidents.",
    Role.ENGINEER: "Also rolls back, forks and freezes sessions, and files incidents.",
    Role.RESPONDER: "Also resumes sessions, rolls back frozen ones, and leads incidents.",
    Role.ADMIN: "Also deletes and restores sessions, and manages keys and members.",
}


class RoleForm(forms.Form):
    """A role, with what each allows."""

    explained: ClassVar = [(role.value, role.name.capitalize(), _ALLOWED[role]) for role in Role]
    """Value, name and what it allows, of each role."""

    role = forms.ChoiceField(choices=[(value, name) for value, name, _ in explained])


class MemberForm(RoleForm):
    """A person to add; `cleaned_data` is what `add_member` takes."""

    username = forms.CharField(
        max_length=150,
        help_text="Who can sign in already gets the role; for somebody new, a first password is made.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    field_order = ("username", "role")


_GOOD_PASSWORDS = "At least 8 characters, not only digits, not a common one, and not like your name."


class FirstPasswordForm(SetPasswordForm):
    """For a person who came by a link and has no password yet."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = _GOOD_PASSWORDS
        self.fields["new_password2"].help_text = ""


class NewPasswordForm(FirstPasswordForm, PasswordChangeForm):
    """The same, after the old password."""
