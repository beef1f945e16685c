"""A form sent after the sign-in had ended: carried through signing in again, so that no text is lost.

Nothing is stored on the server: what was typed travels, signed, in a hidden field of the sign-in page.
"""

from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.http import HttpRequest

from statebase_site.access.current import FORM_KEY, typed_fields

FIELD = "carried"
_SALT = "form carried through signing in"
_KEPT_SECONDS = 8 * 3600


@dataclass(frozen=True)
class CarriedForm:
    """Where the form goes, and its fields as (name, value) pairs in the order they were sent."""

    path: str
    fields: list[tuple[str, str]]

    @property
    def typed(self) -> list[tuple[str, str]]:
        """The fields that a person would recognise, for showing them: not the form's own key."""
        return [(name.replace("_", " "), value) for name, value in self.fields if value and name != FORM_KEY]


def seal(request: HttpRequest) -> str:
    """The POST of `request` as a text that only this server can make."""
    fields = [[name, value] for name, values in typed_fields(request).items() for value in values]
    if key := request.POST.get(FORM_KEY):
        fields.append([FORM_KEY, key])
    return signing.dumps({"path": request.get_full_path(), "fields": fields}, salt=_SALT, compress=True)


def unseal(text: str) -> CarriedForm | None:
    """What `seal` packed; None where the text was changed, or is over eight hours old."""
    try:
        packed: dict[str, Any] = signing.loads(text, salt=_SALT, max_age=_KEPT_SECONDS)
    except signing.BadSignature:
        return None
    return CarriedForm(packed["path"], [(name, value) for name, value in packed["fields"]])
