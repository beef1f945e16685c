"""Tables of incidents."""

from __future__ import annotations

import django_tables2 as tables

from statebase_site.web.tables import MOMENT


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
    created_at = tables.TemplateColumn(MOMENT, verbose_name="Filed", attrs={"td": {"class": "nowrap"}})

    class Meta:
        orderable = False
        empty_text = None
