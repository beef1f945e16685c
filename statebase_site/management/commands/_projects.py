"""Which project a command means."""

from django.core.management.base import CommandError

from statebase_site.access.models import Project


def named_project(slug: str | None) -> Project:
    """The project called `slug`, or without one the only project. CommandError says what to do else."""
    projects = {project.slug: project for project in Project.objects.order_by("slug")}
    if not projects:
        raise CommandError("There is no project yet: make one with `python3 manage.py create_project NAME`.")
    known = ", ".join(projects)
    if slug is None:
        if len(projects) > 1:
            raise CommandError(f"Name the project with --project; there are: {known}.")
        return next(iter(projects.values()))
    if slug not in projects:
        raise CommandError(f"There is no project {slug!r}; there are: {known}.")
    return projects[slug]
