"""Forms of what people do to a session."""

from __future__ import annotations

from typing import Any

from django import forms

from sessions_app.limits import REASONING_BYTES


class ReasonField(forms.CharField):
    """Why somebody acts: plain text of at most 16 KiB."""

    def __init__(self, **more: Any) -> None:
        more.setdefault("widget", forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "true"}))
        super().__init__(error_messages={"required": "Say why: it stays in the history."}, **more)

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        if len(text.encode(errors="replace")) > REASONING_BYTES:
            raise forms.ValidationError(f"At most {REASONING_BYTES:,} bytes; write it shorter.")
        return text


class RollbackForm(forms.Form):
    """Where to, why, and the version that the person saw as the current one."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    expected_version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    reason = ReasonField(label="Reason", required=False)

    def __init__(self, *args: Any, reason_required: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = reason_required


class ForkForm(forms.Form):
    """Which version the fork begins with."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class FreezeForm(forms.Form):
    """A reason may be given; speed matters more."""

    reason = ReasonField(required=False)


class ResumeForm(forms.Form):
    """Letting a session go on is never done without a reason."""

    reason = ReasonField(
        label="Why may it go on?",
        help_text="What was wrong, and what makes it safe now. It becomes the reasoning of the new version.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
