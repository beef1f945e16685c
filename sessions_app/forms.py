"""Forms of what people do to a session."""

from __future__ import annotations

from typing import Any

from django import forms

from sessions_app.limits import MEMORY_CHARACTERS, NAME_CHARACTERS, REASONING_BYTES, TAGS_MOST


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


class TagsField(forms.CharField):
    """One tag a line; cleaned to the list of them."""

    def __init__(self, **more: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}), **more)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        tags = [line.strip() for line in super().clean(value).splitlines() if line.strip()]
        if len(tags) > TAGS_MOST or any(len(tag) > NAME_CHARACTERS for tag in tags):
            raise forms.ValidationError(
                f"At most {TAGS_MOST} tags, each of at most {NAME_CHARACTERS} characters."
            )
        return tags


class MemoryForm(forms.Form):
    """What a memory says, and the version of it that the person saw."""

    expected_version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    content = forms.CharField(
        label="Content",
        max_length=MEMORY_CHARACTERS,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="Agents find it by these words. Its earlier text is not kept.",
    )
    type = forms.CharField(
        label="Type", max_length=NAME_CHARACTERS, widget=forms.TextInput(attrs={"spellcheck": "false"})
    )
    tags = TagsField(label="Tags", required=False, help_text="One a line.")

    def clean_content(self) -> str:
        """With plain line ends, whatever the browser made of them."""
        content = self.cleaned_data["content"].replace("\r\n", "\n")
        if not content.strip():
            raise forms.ValidationError("Write what is to be remembered, or delete the memory below.")
        return content


class ForgetForm(forms.Form):
    """Deleting a memory; the reason stays in its trace."""

    reason = ReasonField(label="Reason", required=False)
