"""One run or conversation of one agent."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from sessions_app.enums import SessionStatus
from statebase_site.access.models import Project
from statebase_site.base import clock, json
from statebase_site.base.clock import isoformat
from statebase_site.base.ids import new_id


def new_session_id() -> str:
    """A fresh id `sess_…`."""
    return new_id("sess")


_FACTS = (
    "metadata_text",
    "updated_at",
    "ttl_seconds",
    "expires_at",
    "head_version",
    "head_keyframe",
    "turn_count",
    "memory_count",
    "frozen_at",
    "frozen_version",
    "frozen_by",
)
_TIMES = frozenset(("updated_at", "expires_at", "frozen_at"))


class AgentSession(models.Model):
    """The head of a session: what changes with each write. All its past is in versions, turns and traces."""

    public_id = models.CharField(max_length=40, unique=True, default=new_session_id)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="agent_sessions")
    agent_id = models.CharField(max_length=255)
    user_id = models.CharField(max_length=255, null=True)
    metadata_text = models.TextField(db_column="metadata", default="{}")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    ttl_seconds = models.PositiveIntegerField(null=True)
    expires_at = models.DateTimeField(null=True)
    expired_at = models.DateTimeField(null=True, help_text="When the expiry was traced.")
    deleted_at = models.DateTimeField(null=True)

    head_version = models.PositiveIntegerField(default=0)
    head_keyframe = models.PositiveIntegerField(default=0)
    turn_count = models.PositiveIntegerField(default=0)
    memory_count = models.PositiveIntegerField(default=0)
    rollback_count = models.PositiveIntegerField(default=0)

    frozen_at = models.DateTimeField(null=True)
    frozen_version = models.PositiveIntegerField(null=True)
    frozen_by = models.CharField(max_length=160, null=True)
    open_holds = models.PositiveIntegerField(default=0)
    life_stopped_at = models.DateTimeField(
        null=True, help_text="Since when the session is frozen or held: its life stands still."
    )

    # Ids, not foreign keys: a fork outlives its source (domain rule 4).
    forked_from = models.CharField(max_length=40, null=True, db_index=True)
    forked_version = models.PositiveIntegerField(null=True)
    lineage_root = models.CharField(max_length=40, db_index=True)
    lineage_depth = models.PositiveIntegerField(default=0)

    imported_from = models.CharField(max_length=64, null=True, help_text="Fingerprint of the recorded run.")
    chain_length = models.PositiveIntegerField(default=0)
    chain_hash = models.BinaryField(default=b"")
    paths_indexed_to = models.IntegerField(
        default=-1, help_text="Last version whose changed paths are indexed."
    )
    # Set only while the session is being removed: the triggers let its rows go then.
    purging = models.BooleanField(default=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            # Keyset pages of the sessions list, newest first.
            models.Index(fields=["project", "created_at", "id"], name="session_newest"),
            # "Recently active", and the 24-hour numbers of the overview.
            models.Index(fields=["project", "updated_at", "id"], name="session_active"),
            models.Index(fields=["project", "agent_id", "created_at"], name="session_agent"),
            models.Index(fields=["project", "user_id", "created_at"], name="session_user"),
            # Few rows each: the overview's frozen sessions, and what the worker has to look at.
            models.Index(
                fields=["project", "frozen_at"], name="session_frozen", condition=Q(frozen_at__isnull=False)
            ),
            models.Index(
                fields=["expires_at"],
                name="session_to_expire",
                condition=Q(expires_at__isnull=False, expired_at__isnull=True),
            ),
            models.Index(
                fields=["id"],
                name="session_paths_to_index",
                condition=Q(deleted_at__isnull=True, paths_indexed_to__lt=F("head_version")),
            ),
            models.Index(
                fields=["deleted_at"], name="session_deleted", condition=Q(deleted_at__isnull=False)
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "imported_from"],
                name="session_imported_once",
                condition=Q(imported_from__isnull=False),
            ),
            models.CheckConstraint(
                condition=Q(frozen_at__isnull=True, frozen_version__isnull=True, frozen_by__isnull=True)
                | Q(frozen_at__isnull=False, frozen_version__isnull=False, frozen_by__isnull=False),
                name="session_frozen_all_or_none",
            ),
            models.CheckConstraint(
                condition=Q(forked_from__isnull=True, forked_version__isnull=True, lineage_depth=0)
                | Q(forked_from__isnull=False, forked_version__isnull=False, lineage_depth__gt=0),
                name="session_forked_all_or_none",
            ),
            models.CheckConstraint(
                condition=Q(head_keyframe__lte=F("head_version")), name="session_keyframe_past"
            ),
            models.CheckConstraint(
                condition=Q(expires_at__isnull=True) | Q(ttl_seconds__isnull=False),
                name="session_expiry_has_ttl",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.public_id}"

    def get_absolute_url(self) -> str:
        return reverse("sessions:time-machine", args=[self.public_id])

    is_listened_to: bool | None = None
    """Whether a webhook of the project listens: known where the row was locked for writing, else None."""

    def facts(self) -> json.JsonObject:
        """What answers show of the head beside a version, as JSON: so that later they can say the same."""
        values = {name: getattr(self, name) for name in _FACTS}
        return {
            name: isoformat(value) if isinstance(value, datetime) else value for name, value in values.items()
        }

    def as_of(self, facts: json.JsonObject) -> AgentSession:
        """This session with its head set to what `facts` said once; not to be saved."""
        for name, value in facts.items():
            setattr(self, name, datetime.fromisoformat(value) if name in _TIMES and value else value)  # type: ignore[arg-type]
        return self

    @property
    def metadata(self) -> json.JsonObject:
        """The metadata as it was sent: same keys, order and digits."""
        return json.parse_stored(self.metadata_text)  # type: ignore[return-value]

    @property
    def is_frozen(self) -> bool:
        return self.frozen_at is not None

    @property
    def is_expired(self) -> bool:
        """Past its life; a frozen or held session does not expire (contract 8.3)."""
        return (
            self.expires_at is not None
            and not self.is_frozen
            and not self.open_holds
            and self.expires_at <= clock.now()
        )

    @property
    def purge_at(self) -> datetime | None:
        """From when on a deleted session may be removed for good."""
        days = timedelta(days=settings.PURGE_DELETED_AFTER_DAYS)
        return self.deleted_at + days if self.deleted_at else None

    def settle_life(self, moment: datetime) -> None:
        """Stop the session's life while it is frozen or held; later it goes on by as much (contract 8.3)."""
        if self.is_frozen or self.open_holds:
            self.life_stopped_at = self.life_stopped_at or moment
        elif self.life_stopped_at:
            if self.expires_at:
                self.expires_at += moment - self.life_stopped_at
            self.life_stopped_at = None

    @property
    def status(self) -> SessionStatus:
        if self.deleted_at:
            return SessionStatus.DELETED
        if self.is_frozen:
            return SessionStatus.FROZEN
        return SessionStatus.EXPIRED if self.is_expired else SessionStatus.RUNNING


def metadata_pairs(metadata: json.JsonObject) -> list[tuple[str, str]]:
    """Each top-level pair as it is indexed and searched: name, and fingerprint of the value.

    Two values have one fingerprint exactly when they are the same: typed, whatever the order of keys inside.
    """
    return [
        (name.replace("\x00", "")[:255], sha256(json.canonical(value).encode()).hexdigest())
        for name, value in metadata.items()
    ]


class SessionMetadataPair(models.Model):
    """One top-level pair of a session's metadata, for the metadata filter; the same on both databases."""

    agent_session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="metadata_pairs")
    name = models.CharField(max_length=255, help_text="The key; only its first 255 characters.")
    value_sha256 = models.CharField(max_length=64, help_text="Of the value's canonical JSON: typed equality.")

    class Meta:
        indexes = [models.Index(fields=["name", "value_sha256", "agent_session"], name="metadata_pair")]

    def __str__(self) -> str:
        return self.name


class SessionPath(models.Model):
    """A path that some version of the session changed; written by the worker after commit."""

    agent_session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="changed_paths")
    path = models.CharField(max_length=255, help_text="JSON Pointer; only its first 255 characters.")
    last_version = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["path", "agent_session"], name="session_path_once")]

    def __str__(self) -> str:
        return self.path
