"""Every environment variable is read here, and one that is wrong says what to do."""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

ROOT = Path(__file__).resolve().parent.parent
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def text(name: str, default: str = "") -> str:
    """The variable, or `default` where it is not set or empty."""
    return os.environ.get(name, "").strip() or default


def number(name: str, default: int, *, least: int = 0) -> int:
    """A whole number of at least `least`."""
    value = text(name)
    if not value:
        return default
    if not value.isdecimal() or int(value) < least:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {least}, not {value!r}.")
    return int(value)


def flag(name: str, default: bool) -> bool:
    """`1`, `true`, `yes`, `on` or `0`, `false`, `no`, `off`."""
    value = text(name).lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not {value!r}.")


def one_of(name: str, default: str, choices: tuple[str, ...]) -> str:
    """One of `choices`, which are in capitals; the variable may be in small letters."""
    value = text(name, default).upper()
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
    return value


def words(name: str, default: list[str]) -> list[str]:
    """A comma-separated list."""
    value = text(name)
    return [word.strip() for word in value.split(",") if word.strip()] if value else default


def home() -> Path:
    """`STATEBASE_HOME`: the folder that holds all that a running installation writes."""
    return Path(text("STATEBASE_HOME", str(ROOT / ".statebase"))).expanduser().absolute()


def secret_key() -> str:
    """`STATEBASE_SECRET_KEY`, else a key made once and kept in the home folder, for its owner only."""
    given = text("STATEBASE_SECRET_KEY")
    if given:
        return given
    return private_file("secret_key", lambda: secrets.token_urlsafe(50)).read_text().strip()


def private_file(name: str, content: Callable[[], str] = str) -> Path:
    """A file in the home folder that only its owner may read, made with `content` where it is not there yet.

    It appears whole or not at all, so that two processes that start together agree on it.
    """
    path = home() / name
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(handle, "w") as file:
                file.write(content())
            with contextlib.suppress(FileExistsError):
                os.link(temporary, path)
            os.unlink(temporary)
        path.open().close()
    except OSError as error:
        raise ImproperlyConfigured(
            f"Cannot write to {path.parent} ({error.strerror}): set STATEBASE_HOME to a folder you own."
        ) from error
    return path
