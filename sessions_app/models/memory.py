"""What agents are told to remember, and what they know of things: memories and entities."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from sessions_app.models.agent_session import AgentSession
from statebase_site.access.models import Project
from statebase_site.base import json
from statebase_site.base.ids import new_id


def new_memory_id() -> str:
    """A fresh id `mem_…`."""
    return new_id("mem")


def new_entity_id() -> str:
    """A fresh id `ent_…`."""
    return new_id("ent")


class MemoryScope(models.TextChoices):
    """Whose a memory is (contract 6.5)."""

    SESSION = "session", "Session"
    USER = "user", "User"
    AGENT = "agent", "Agent"
    GLOBAL = "global", "Global"


class Memory(models.Model):
    """A text to be found again (contract 5.5). It changes and goes; its traces keep no content."""

    public_id = models.CharField(max_length=40, unique=True, default=new_memory_id)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memories", db_index=False)
    agent_session = models.ForeignKey(
        AgentSession, on_delete=models.CASCADE, related_name="memories", null=True
    )
    user_id = models.CharField(max_length=255, null=True)
    agent_id = models.CharField(max_length=255, null=True)
    scope = models.CharField(max_length=7, choices=MemoryScope)
    type = models.CharField(max_length=255, default="general")
    content = models.TextField()
    tags_text = models.TextField(db_column="tags", default="[]", help_text="JSON list of strings.")
    metadata_text = models.TextField(db_column="metadata", default="{}")
    # What full text looks for: the stems, so that both databases find the same. Empty without embedding.
    terms = models.TextField(blank=True)
    embedder = models.CharField(max_length=40, null=True, help_text="Who made the vector.")
    vector = models.BinaryField(null=True)
    embedding_id = models.CharField(max_length=40, null=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            # Keyset pages of a project's memories, and of one user's.
            models.Index(fields=["project", "created_at", "id"], name="memory_newest"),
            models.Index(fields=["project", "user_id", "created_at"], name="memory_of_user"),
            models.Index(fields=["project", "agent_id", "created_at"], name="memory_of_agent"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(scope=MemoryScope.USER, user_id__isnull=False)
                | Q(scope=MemoryScope.SESSION, user_id__isnull=True, agent_session__isnull=False)
                | Q(
                    scope=MemoryScope.AGENT,
                    user_id__isnull=True,
                    agent_session__isnull=True,
                    agent_id__isnull=False,
                )
                | Q(
                    scope=MemoryScope.GLOBAL,
                    user_id__isnull=True,
                    agent_session__isnull=True,
                    agent_id__isnull=True,
                ),
                name="memory_scope_fits",
            ),
            models.CheckConstraint(
                condition=Q(vector__isnull=True, embedding_id__isnull=True, embedder__isnull=True)
                | Q(vector__isnull=False, embedding_id__isnull=False, embedder__isnull=False),
                name="memory_embedded_whole",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def tags(self) -> list[str]:
        return json.parse_stored(self.tags_text)  # type: ignore[return-value]

    @property
    def metadata(self) -> json.JsonObject:
        return json.parse_stored(self.metadata_text)  # type: ignore[return-value]


class MemoryTag(models.Model):
    """One tag of a memory, for the filter by tags; the same on both databases."""

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="tag_rows")
    tag = models.CharField(max_length=255)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tag", "memory"], name="memory_tag_once")]

    def __str__(self) -> str:
        return self.tag


class Entity(models.Model):
    """A thing that a session knows of, with attributes that are merged (contract 6.7)."""

    public_id = models.CharField(max_length=40, unique=True, default=new_entity_id)
    agent_session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="entities")
    entity_type = models.CharField(max_length=255)
    entity_id = models.CharField(max_length=255)
    attributes_text = models.TextField(db_column="attributes", default="{}")
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["agent_session", "entity_type", "entity_id"], name="entity_once_a_session"
            )
        ]

    def __str__(self) -> str:
        return f"{self.entity_type} {self.entity_id}"

    @property
    def attributes(self) -> json.JsonObject:
        return json.parse_stored(self.attributes_text)  # type: ignore[return-value]
