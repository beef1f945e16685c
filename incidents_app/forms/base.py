"""What all forms of incidents share: the incident they are about, and fields with plain words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict

from incidents_app import queries
from incidents_app.limits import TEXT_BYTES, TITLE_CHARACTERS
from incidents_app.models import AffectedSession, Incident
from incidents_app.queries import Assessed
from statebase_site.access.actor import Actor
from statebase_site.base.errors import DomainError
from statebase_site.web.times import ViewerTimes

_NUMBERS = re.compile(r"[\s,;]+")
_NUMBER_MOST = 2**31 - 1


@dataclass(frozen=True)
class About:
    """Whose form it is, the incident it is about, and how the person wants times."""

    by: Actor
    incident: Incident
    times: ViewerTimes

    @cached_property
    def assessed(self) -> Assessed:
        """The incident at this moment."""
        return queries.assess(self.incident)

    @property
    def rows(self) -> list[AffectedSession]:
        """Its sessions in the present episode."""
        return list(self.assessed.affected)


class ActForm(forms.Form):
    """A form of one act; `given` is what the action takes."""

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        about: About,
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=initial, label_suffix="")
        self.about = about

    @property
    def given(self) -> dict[str, Any]:
        """The keywords of the action, once the form is valid."""
        return dict(self.cleaned_data)

    def see(self, **seen: Any) -> None:
        """Take these values as what the person began from, now that they are shown beside what was typed."""
        data = cast(QueryDict, self.data).copy()
        for name, value in seen.items():
            shown = self[name]
            hidden = shown.html_initial_name if shown.field.show_hidden_initial else shown.html_name
            data[hidden] = str(value)
        self.data = data

    def refuse(self, refusal: DomainError, words: str) -> None:
        """Say at the field at fault, or on top, why the action did not take it."""
        self.add_error(refusal.param if refusal.param in self.fields else None, words)

    @classmethod
    def typed_in(cls, data: QueryDict, *, about: About) -> ActForm:
        """A form that holds what was typed so far, and judges nothing yet."""
        form = cls(about=about)
        none: MultiValueDict[str, Any] = MultiValueDict()
        form.initial = {
            name: field.widget.value_from_datadict(data, none, name) for name, field in form.fields.items()
        }
        return form


class Line(forms.CharField):
    """One line of text."""

    def __init__(self, *, required: str = "", most: int = TITLE_CHARACTERS, **more: Any) -> None:
        more.setdefault("widget", forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "true"}))
        messages = {"max_length": "At most %(limit_value)d characters; yours has %(show_value)d."}
        super().__init__(
            required=bool(required), max_length=most, error_messages=messages | _missing(required), **more
        )


class Words(forms.CharField):
    """A text of some lines, at most 16 KiB."""

    def __init__(self, *, required: str = "", rows: int = 3, **more: Any) -> None:
        more.setdefault("widget", forms.Textarea(attrs={"rows": rows, "spellcheck": "true"}))
        super().__init__(required=bool(required), error_messages=_missing(required), **more)

    def to_python(self, value: Any) -> str:
        """Browsers send lines with carriage returns; kept are line feeds, as everywhere."""
        return (super().to_python(value) or "").replace("\r\n", "\n")

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        if (size := len(text.encode(errors="replace"))) > TEXT_BYTES:
            raise forms.ValidationError(f"At most {TEXT_BYTES:,} bytes; yours has {size:,}.")
        return text


class Version(forms.IntegerField):
    """A version's number."""

    def __init__(self, *, required: str = "", **more: Any) -> None:
        messages = {
            "invalid": "A version is a number, such as 3.",
            "min_value": "Versions are counted from 0.",
            "max_value": "No session has that many versions.",
        }
        super().__init__(
            required=bool(required),
            min_value=0,
            max_value=_NUMBER_MOST,
            error_messages=messages | _missing(required),
            **more,
        )

    def to_python(self, value: Any) -> int | None:
        return super().to_python(value.strip().removeprefix("v") if isinstance(value, str) else value)


class Several(forms.TextInput):
    """Boxes and a text for more under one name; the text is divided at commas and spaces."""

    def format_value(self, value: Any) -> str:
        return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value or "")

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        found = data.getlist(name) if hasattr(data, "getlist") else data.get(name, [])
        return list(
            dict.fromkeys(part for text in found for part in _NUMBERS.split(text.replace("\x00", "")) if part)
        )


class Names(forms.Field):
    """Some names, or none."""

    widget = Several


class Versions(Names):
    """Some versions' numbers, or none."""

    def clean(self, value: Any) -> list[int]:
        return [self._number(text) for text in super().clean(value) or []]

    def _number(self, text: str) -> int:
        digits = text.removeprefix("v")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
            raise forms.ValidationError(f"A version is a number, such as 3; “{text[:40]}” is none.")
        return int(digits)


class Choice(forms.ChoiceField):
    """One of a few, each in plain view."""

    def __init__(self, *, required: str = "", **more: Any) -> None:
        more.setdefault("widget", forms.RadioSelect)
        messages = {"invalid_choice": "Choose one of those that are offered."}
        super().__init__(required=bool(required), error_messages=messages | _missing(required), **more)


class AffectedField(forms.ChoiceField):
    """One of the incident's sessions; `offer` says which there are."""

    def __init__(self, *, required: str = "Say which session.", **more: Any) -> None:
        messages = {"invalid_choice": "The incident does not affect that session; add it first."}
        more.setdefault("label", "Session")
        super().__init__(required=bool(required), error_messages=messages | _missing(required), **more)

    def offer(self, rows: Iterable[AffectedSession]) -> None:
        """Let one of these be chosen; of one there is nothing to choose."""
        found = [(row.session_id, f"{row.session_id} · {row.agent_id[:60]}") for row in rows]
        if not self.required:
            found = [("", "none in particular"), *found]
        elif len(found) == 1:
            self.initial = found[0][0]
        else:
            found = [("", "choose"), *found]
        self.choices = found


def _missing(words: str) -> dict[str, str]:
    return {"required": words} if words else {}
