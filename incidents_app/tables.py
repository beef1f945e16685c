"""Tables of incidents."""

from __future__ import annotations

import django_tables2 as tables

from incidents_app.models import Incident
from statebase_site.base import clock
from statebase_site.web.times import relative


def _age(record: Incident) -> dict[str, str]:
    return {"age": relative(record.created_at, clock.now())}


class IncidentTable(tables.Table):
    """Incidents, newest first."""

    caption = "Incidents, newest first"
    row_header = "title"

    severity = tables.TemplateColumn(
        template_name="incidents_app/_severity.html", verbose_name="Severity", empty_values=()
    )
    title = tables.TemplateColumn(
        template_name="incidents_app/_incident_cell.html",
        verbose_name="Incident",
        attrs={"td": {"class": "long"}},
    )
    status = tables.TemplateColumn(template_name="incidents_app/_status.html", verbose_name="Status")
    sessions = tables.TemplateColumn(
        template_name="incidents_app/_sessions_cell.html", verbose_name="Sessions", empty_values=()
    )
    commander = tables.TemplateColumn(
        "{% if value %}{{ value.get_username|truncatechars:40|visible }}{% else %}nobody{% endif %}",
        verbose_name="Commander",
        empty_values=(),
    )
    failure_mode = tables.TemplateColumn(
        "{% if value %}{{ record.get_failure_mode_display }}{% else %}–{% endif %}",
        verbose_name="Failure mode",
        empty_values=(),
    )
    created_at = tables.TemplateColumn(
        template_name="incidents_app/_age.html",
        verbose_name="Filed",
        extra_context=_age,
        attrs={"td": {"class": "nowrap"}},
    )

    class Meta:
        orderable = False
        empty_text = None
