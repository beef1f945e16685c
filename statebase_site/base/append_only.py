"""Rows that are written once: refused here in Python, and by triggers in the database itself."""

from typing import Any

from django.db import models


class AppendOnlyError(TypeError):
    """Somebody tried to change evidence."""


class AppendOnlyQuerySet(models.QuerySet):
    """A queryset that can read and add, nothing else."""

    def update(self, **kwargs: Any) -> int:
        raise AppendOnlyError(f"{self.model.__name__} rows are never changed")

    def bulk_update(self, *args: Any, **kwargs: Any) -> int:
        raise AppendOnlyError(f"{self.model.__name__} rows are never changed")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise AppendOnlyError(f"{self.model.__name__} rows are only removed by the purge")


class AppendOnlyModel(models.Model):
    """Base of versions, turns and traces (domain rule 6)."""

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnlyError(f"{type(self).__name__} rows are never changed")
        kwargs["force_insert"] = True
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise AppendOnlyError(f"{type(self).__name__} rows are only removed by the purge")
