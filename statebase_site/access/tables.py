"""Tables of API keys."""

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from statebase_site.access.models import ApiKey
from statebase_site.access.scopes import FULL
from statebase_site.web.tables import MOMENT, NUMBER
from statebase_site.web.templatetags.ui import visible


class _KeyColumns(tables.Table):
    row_header = "name"

    name = tables.Column(verbose_name="Key")
    scopes = tables.Column(accessor="scopes", verbose_name="May")
    created_at = tables.TemplateColumn(MOMENT, verbose_name="Made")
    rate_limit = tables.TemplateColumn(
        "{% if value %}{{ value|thousands }} a minute{% else %}no limit{% endif %}",
        verbose_name="Limit",
        attrs={"td": {"class": "nowrap"}},
    )
    total_requests = tables.TemplateColumn("{{ value|thousands }}", verbose_name="Requests", attrs=NUMBER)
    last_used_at = tables.TemplateColumn(MOMENT, verbose_name="Last used")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, orderable=False, **kwargs)

    def render_name(self, record: ApiKey) -> SafeString:
        return format_html(
            '{} <span class="mono faint nowrap">{}…</span>', visible(record.name), record.prefix
        )

    def render_scopes(self, value: frozenset[str]) -> SafeString:
        chips = format_html_join(
            " ", '<span class="chip">{}</span>', ((_in_words(scope),) for scope in sorted(value))
        )
        return format_html('<span class="chips">{}</span>', chips)


class KeyTable(_KeyColumns):
    """Keys that work."""

    caption = "Keys in force, newest first"

    expires_at = tables.TemplateColumn(
        "{% if value %}{% moment value %}{% else %}never{% endif %}", verbose_name="Expires"
    )
    revoke = tables.Column(verbose_name="Action", accessor="public_id")

    def __init__(self, *args: Any, may_manage: bool, **kwargs: Any) -> None:
        self.may_manage = may_manage
        super().__init__(*args, **kwargs)

    def render_revoke(self, record: ApiKey) -> SafeString:
        if not self.may_manage:
            return SafeString('<span class="faint">admins only</span>')
        return format_html(
            '<a class="btn slim quiet danger" href="{}">Revoke<span class="visually-hidden"> {}</span></a>',
            reverse("access:revoke-key", args=[record.public_id]),
            visible(record.name),
        )


class EndedKeyTable(_KeyColumns):
    """Keys that answer 401."""

    caption = "Revoked and expired keys, newest first"

    ended = tables.TemplateColumn(
        "{% if record.revoked_at %}revoked {% moment record.revoked_at %}"
        "{% else %}expired {% moment record.expires_at %}{% endif %}",
        verbose_name="Ended",
        accessor="public_id",
    )


class MemberTable(tables.Table):
    """The people of a project; for an admin with forms to change their roles.

    Reads of the page's context: `may_manage`, `only_admin`, `roles`.
    """

    caption = "Members, by name"
    row_header = "user"

    user = tables.TemplateColumn(
        "{{ value.get_username|visible }}"
        '{% if value.pk == request.user.pk %} <span class="chip on">you</span>{% endif %}',
        verbose_name="Name",
    )
    role = tables.TemplateColumn(template_name="access/_role.html", verbose_name="Role")
    last_login = tables.TemplateColumn(MOMENT, verbose_name="Last signed in", accessor="user__last_login")
    remove = tables.TemplateColumn(
        template_name="access/_remove.html", verbose_name="Action", accessor="pk", empty_values=()
    )

    class Meta:
        orderable = False


def _in_words(scope: str) -> str:
    return "everything" if scope == FULL else scope
