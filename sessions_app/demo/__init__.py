"""Demo data, made through the actions."""

from sessions_app import actions
from statebase_site.access.actor import system_actor
from statebase_site.access.models import Project


def load_demo(project: Project) -> None:
    """Fill the empty project."""
    actions.create_session(agent_id="travel-agent", by=system_actor(project))
