"""What can go wrong in the domain, in words for the person or agent who asked.

Actions and queries raise these and know no status codes; `statebase_site.web` maps each kind to one
(contract section 3).
"""

from typing import Any, ClassVar


class DomainError(Exception):
    """Base of all: `code` is the stable name, `message` plain words, `param` the field at fault."""

    code: ClassVar[str] = "internal_error"

    def __init__(
        self, message: str, *, param: str | None = None, suggestion: str | None = None, **extras: Any
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.suggestion = suggestion
        self.extras = extras

    @property
    def in_words(self) -> str:
        """What happened and, where it is known, what to do next."""
        return " ".join(filter(None, (self.message, self.suggestion)))


class InvalidInput(DomainError):
    """A value that can't be accepted as it is."""

    code = "invalid_request"


class PermissionRefused(DomainError):
    """The actor lacks a scope; extra `required_scope`."""

    code = "permission_denied"


class NotFound(DomainError):
    """It does not exist, or not for this actor."""

    code = "resource_not_found"


class Conflict(DomainError):
    """The request is fine but the present facts stand against it."""


class TooLarge(DomainError):
    """Over a size limit (contract section 4.3)."""

    code = "payload_too_large"


class Frozen(DomainError):
    """Refused by a freeze (contract section 8)."""

    code = "session_frozen"
