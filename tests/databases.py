"""What a test may ask of the database it runs on."""

from urllib.parse import quote

from django.db import connection

from sessions_app.models import AgentSession
from statebase_site.access.models import Project


def url_of_database() -> str:
    """DATABASE_URL of the current test database."""
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    user, password, host = (quote(found[name], safe="") for name in ("USER", "PASSWORD", "HOST"))
    port = f":{found['PORT']}" if found["PORT"] else ""
    return f"postgres://{user}:{password}@{host}{port}/{found['NAME']}"


def let_evidence_go() -> None:
    """Mark all sessions and projects for removal: only then the triggers let their rows be deleted."""
    AgentSession.objects.update(purging=True)
    Project.objects.update(purging=True)
