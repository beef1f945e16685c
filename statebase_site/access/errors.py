"""What can go wrong with projects, members, keys and signing in."""

from statebase_site.access.models import ApiKey
from statebase_site.base.errors import Conflict, NotFound, PermissionRefused


class KeyNotFound(NotFound):
    """No such key in the actor's project."""

    code = "key_not_found"

    def __init__(self, key_id: str) -> None:
        super().__init__(f"There is no API key {key_id!r} in this project.", param="key_id")


class KeyRevokedAlready(Conflict):
    """The key has ended before; nothing is left to do."""

    code = "key_revoked"

    def __init__(self, name: str) -> None:
        super().__init__(f"The key {name!r} is revoked already: it answers 401 since then.")


class KeyMadeAlready(Conflict):
    """The same request made a key before; what was shown then can't be shown again."""

    code = "already_exists"

    def __init__(self, key: ApiKey) -> None:
        super().__init__(
            f"This was sent before and made the key {key.prefix}… then; a key is shown only once.",
            suggestion="If you did not copy it, revoke it and make another.",
        )
        self.key = key


class AlreadyExists(Conflict):
    """The name is taken."""

    code = "already_exists"


class MemberNotFound(NotFound):
    """No such member of the actor's project, or no longer."""

    code = "member_not_found"

    def __init__(self, member_id: int) -> None:
        super().__init__(f"There is no member {member_id} in this project.", param="member_id")


class LastAdmin(Conflict):
    """A project without an admin could not be managed by anybody."""

    code = "last_admin"

    def __init__(self) -> None:
        super().__init__(
            "This is the project's last admin, whom it can't do without.",
            suggestion="Make somebody else an admin first.",
        )


class ProjectNotFound(NotFound):
    """No such project, or the person is no member of it."""

    code = "project_not_found"

    def __init__(self, slug: str) -> None:
        super().__init__(f"There is no project {slug!r} that you belong to.", param="project")


class NoProject(PermissionRefused):
    """The person is signed in and belongs to no project."""

    def __init__(self) -> None:
        super().__init__(
            "You are signed in, but you do not belong to any project yet.",
            suggestion="Ask whoever runs this server to add you: "
            "python3 manage.py create_user YOUR_NAME --project PROJECT",
        )


class SignInLinkSpent(Conflict):
    """A one-time link that was used, is too old, or never was."""

    code = "sign_in_link_spent"

    def __init__(self) -> None:
        super().__init__(
            "This sign-in link was used already, or it is too old: each works once, for ten minutes."
        )
