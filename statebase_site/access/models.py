"""Projects (the tenants), their members and their keys."""

from __future__ import annotations

import json
from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils.functional import cached_property

from statebase_site.access.scopes import SCOPES_OF_ROLE
from statebase_site.base.ids import new_id


class Project(models.Model):
    """The tenant: owns keys and sessions. What another project owns does not exist for you."""

    name = models.CharField(max_length=80)
    slug = models.SlugField(max_length=80, unique=True)
    created_at = models.DateTimeField()
    is_demo = models.BooleanField(default=False)
    # Set only while the whole project is being removed: the triggers let its rows go then.
    purging = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """What a member may do; each role may do all that the one before it may."""

    VIEWER = "viewer", "Viewer: reads"
    ENGINEER = "engineer", "Engineer: rolls back, forks, freezes"
    RESPONDER = "responder", "Responder: also resumes, and rolls back while frozen"
    ADMIN = "admin", "Admin: also deletes, keys and members"


class Membership(models.Model):
    """A person's role in a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_once_a_project"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"

    @property
    def scopes(self) -> frozenset[str]:
        return SCOPES_OF_ROLE[self.role]


def _new_key_id() -> str:
    return new_id("key")


class ApiKey(models.Model):
    """A key of a project. Only a hash is stored; the clear key is shown once (contract section 1)."""

    public_id = models.CharField(max_length=40, unique=True, default=_new_key_id)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=80)
    owner_id = models.CharField(
        max_length=255, null=True, help_text="Whose key it is, in the words of who made it."
    )
    prefix = models.CharField(max_length=12, help_text="The first characters, by which traces name the key.")
    key_hash = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the clear key, in hex.")
    scopes_text = models.TextField(db_column="scopes", default='["*"]', help_text="JSON list of scopes.")
    rate_limit = models.PositiveIntegerField(default=0, help_text="Requests a minute; 0 = no limit.")
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=160, help_text="Label of who made it.")
    last_used_at = models.DateTimeField(null=True)
    total_requests = models.PositiveBigIntegerField(default=0)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @cached_property
    def scopes(self) -> frozenset[str]:
        return frozenset(self.scopes_in_order)

    @property
    def scopes_in_order(self) -> list[str]:
        return json.loads(self.scopes_text)

    def opens_at(self, moment: datetime) -> bool:
        """Whether the key is neither revoked nor expired at `moment`."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > moment)


class RateBucket(models.Model):
    """How much of its rate limit a key has left, shared by all processes (contract 4.1)."""

    api_key = models.OneToOneField(ApiKey, on_delete=models.CASCADE, primary_key=True, related_name="+")
    full_at = models.FloatField(help_text="Unix second at which the whole allowance is there again.")

    def __str__(self) -> str:
        return f"rate of {self.api_key}"


class SignInToken(models.Model):
    """A one-time link that signs a person in, for the demo: short-lived, loopback only."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"sign-in link of {self.user}"


class IdempotentAnswer(models.Model):
    """What a request with an `Idempotency-Key` made, for 24 hours (contract section 4.2).

    Written in the same transaction as what it made, so that there is never one without the other.
    """

    owner = models.CharField(max_length=40, help_text="The actor's id, and after `@` the project's key.")
    key = models.CharField(max_length=255)
    method = models.CharField(max_length=7)
    path = models.TextField()
    body_sha256 = models.CharField(max_length=64)
    made = models.TextField(help_text="JSON: the rows that were made, and the facts answered beside them.")
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "key"], name="idempotency_key_once"),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.path} ({self.key})"
