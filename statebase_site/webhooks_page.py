"""The pages of webhooks, above all apps: they show what the apps' objects look like when they are sent."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from sessions_app import actions
from sessions_app.errors import SessionNotFound
from sessions_app.queries import session_for
from statebase_site.access.actor import Actor
from statebase_site.access.current import actor_for
from statebase_site.access.scopes import KEYS_MANAGE
from statebase_site.base import clock, json
from statebase_site.base.errors import InvalidInput, NotFound
from statebase_site.web.downloads import download
from statebase_site.web.listing import list_answer, list_page
from statebase_site.web.requests import for_htmx
from statebase_site.web.times import relative
from statebase_site.web.wording import count_noun
from statebase_site.webhook_data import data_of
from statebase_site.webhooks import actions as deliveries
from statebase_site.webhooks import queries
from statebase_site.webhooks.delivering import body_of
from statebase_site.webhooks.errors import WebhookNotFound
from statebase_site.webhooks.filters import DeliveryFilter
from statebase_site.webhooks.forms import NewWebhookForm, WebhookForm
from statebase_site.webhooks.models import Delivery, Webhook
from statebase_site.webhooks.presenting import address_for, is_sent_soon, may_be_sent_again, next_try
from statebase_site.webhooks.sending import SIGNATURE_HEADER, headers_of
from statebase_site.webhooks.tables import AttemptTable, DeliveryTable, WebhookTable

_PAGE = {"nav_current": "settings", "settings_current": "webhooks"}
_BODY_SHOWN = 100_000
"""Characters."""
_WATCHED_MOST = 10
"""Deliveries under way whose outcome a page waits for, by a request each every few seconds."""
_MANAGE = "manage webhooks"


@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: HttpRequest) -> HttpResponse:
    """The project's webhooks, and a form for a new one, whose secret is shown in this one answer."""
    by = actor_for(request)
    if request.method != "POST":
        return _list(request, by, NewWebhookForm())
    by.require(KEYS_MANAGE, to=_MANAGE)
    form = NewWebhookForm(request.POST)
    if not form.is_valid():
        return _list(request, by, form, status=422)
    try:
        webhook, again = actions.create_webhook(**form.cleaned_data, by=by)
    except InvalidInput as wrong:
        _say_wrong(form, wrong)
        return _list(request, by, form, status=422)
    if again:
        messages.warning(request, "This webhook is made already: its secret was shown only once.")
        return redirect("webhooks:webhook", webhook.public_id)
    return render(request, "webhooks/made.html", _PAGE | {"webhook": webhook})


def _list(request: HttpRequest, by: Actor, form: WebhookForm, status: int = 200) -> HttpResponse:
    found = queries.webhooks_of(by.project)
    rows = list(queries.with_counts(found))
    context = {
        "form": form,
        "may_manage": by.may(KEYS_MANAGE),
        "rows": rows,
        "overdue": _overdue(queries.overdue_since(found)),
        "table": WebhookTable(rows, latest=queries.latest_tried(rows), may_manage=by.may(KEYS_MANAGE)),
    }
    return render(request, "webhooks/webhooks.html", _PAGE | context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def webhook(request: HttpRequest, webhook_id: str) -> HttpResponse:
    """One webhook with its deliveries, and the form that changes it."""
    by = actor_for(request)
    found = queries.webhook_for(by, webhook_id)
    if request.method != "POST":
        return _webhook(request, by, found, None)
    by.require(KEYS_MANAGE, to=_MANAGE)
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _webhook(request, by, found, form, status=422)
    try:
        actions.update_webhook(webhook_id=webhook_id, **form.changes_to(found), by=by)
    except InvalidInput as wrong:
        _say_wrong(form, wrong)
        return _webhook(request, by, found, form, status=422)
    messages.success(request, "The webhook is changed: what happens from now on goes by that.")
    return redirect("webhooks:webhook", webhook_id)


def _webhook(
    request: HttpRequest, by: Actor, found: Webhook, form: WebhookForm | None, status: int = 200
) -> HttpResponse:
    chosen = DeliveryFilter(request.GET, queries.deliveries_of(found))
    page = list_page(
        request, chosen.qs if chosen.is_valid() else chosen.queryset.none(), key="event_id", moment="id"
    )
    own = queries.webhooks_of(by.project).filter(pk=found.pk)
    context = {
        "webhook": queries.with_counts(own).get(),
        "address": address_for(by.may(KEYS_MANAGE), found),
        "form": form or WebhookForm(initial={"url": found.url, "events": found.events}),
        "may_manage": by.may(KEYS_MANAGE),
        "overdue": _overdue(queries.overdue_since(own)),
        "filter": chosen,
        "filtered": any(request.GET.get(name) for name in chosen.filters),
        "page": page,
        "table": DeliveryTable(
            page.rows,
            webhook=found,
            may_manage=by.may(KEYS_MANAGE),
            watched=_are_few_under_way(page.rows, found),
        ),
        "note": f"{count_noun(len(page.rows), 'delivery', 'deliveries')}, kept for "
        f"{count_noun(settings.WEBHOOK_DELIVERY_DAYS, 'day')}",
    }
    if status == 200:
        return list_answer(request, "webhooks", "webhook", _PAGE | context)
    return render(request, "webhooks/webhook.html", _PAGE | context, status=status)


def _are_few_under_way(rows: list[Delivery], found: Webhook) -> bool:
    return sum(is_sent_soon(each, found) for each in rows) <= _WATCHED_MOST


@require_POST
def switch(request: HttpRequest, webhook_id: str) -> HttpResponse:
    """Let a webhook hear of things, or of nothing, as the form's `active` says."""
    by = actor_for(request)
    by.require(KEYS_MANAGE, to=_MANAGE)
    active = request.POST.get("active") == "yes"
    actions.update_webhook(webhook_id=webhook_id, is_active=active, by=by)
    messages.success(
        request,
        "The webhook is active: it hears of what happens from now on."
        if active
        else "The webhook is paused: it hears of nothing that happens until it is active again.",
    )
    return redirect("webhooks:webhook", webhook_id)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, webhook_id: str) -> HttpResponse:
    """Ask, then end a webhook for good."""
    by = actor_for(request)
    by.require(KEYS_MANAGE, to=_MANAGE)
    try:
        found = queries.webhook_for(by, webhook_id)
    except WebhookNotFound:
        if not queries.is_deleted(by, webhook_id):
            raise
        messages.info(request, "That webhook is deleted already.")
        return redirect("webhooks:list")
    if request.method != "POST":
        own = queries.webhooks_of(by.project).filter(pk=found.pk)
        return render(request, "webhooks/delete.html", _PAGE | {"webhook": queries.with_counts(own).get()})
    actions.delete_webhook(webhook_id=webhook_id, by=by)
    messages.success(request, f"The webhook to {found.url} is deleted: nothing is sent there any more.")
    return redirect("webhooks:list")


@require_safe
def delivery(request: HttpRequest, webhook_id: str, event_id: str) -> HttpResponse:
    """One delivery: its tries, and what is sent, to the byte."""
    by = actor_for(request)
    found, sent = _delivery(by, webhook_id, event_id)
    body = body_of(sent, data_of)
    attempts = sent.attempts[::-1]
    context = {
        "webhook": found,
        "delivery": sent,
        "address": address_for(by.may(KEYS_MANAGE), found),
        "may_manage": by.may(KEYS_MANAGE),
        "overdue": _overdue(queries.overdue_since(queries.webhooks_of(by.project).filter(pk=found.pk))),
        "next": next_try(sent, found),
        "may_be_sent": may_be_sent_again(sent),
        "attempts": attempts,
        "table": AttemptTable(attempts),
        "is_gone": body is None,
    }
    if body is not None:
        context |= _body(by, found, sent, body)
    return render(request, "webhooks/delivery.html", _PAGE | context)


def _body(by: Actor, found: Webhook, sent: Delivery, body: bytes) -> dict[str, Any]:
    document: Any = json.parse_stored(body)
    text = json.pretty(document)
    headers = headers_of(
        found.url,
        body,
        secret=found.secret,
        event=sent.event,
        event_id=sent.event_id,
        version=settings.VERSION,
    )
    if not by.may(KEYS_MANAGE):  # with it, one could send the receiver the same once more
        del headers[SIGNATURE_HEADER]
    return {
        "size": len(body),
        "body": body.decode() if len(body) <= _BODY_SHOWN else None,
        "pretty": text[:_BODY_SHOWN],
        "cut": max(0, len(text) - _BODY_SHOWN),
        "headers": headers,
        "about": _about(by, sent, document["data"]),
        "keeps_no_past": not {"memory", "incident", "webhook"}.isdisjoint(sent.subject),
    }


def _about(by: Actor, sent: Delivery, data: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Pages about what happened, as (kind, name, address)."""
    subject: Any = sent.subject
    found = []
    if "trace" in subject:
        found.append(("Trace", data["action"], reverse("sessions:trace", args=[subject["trace"]])))
    elif "memory" in subject:
        found.append(("Memory", subject["memory"], reverse("sessions:memory", args=[subject["memory"]])))
    elif "incident" in subject:
        found.append(
            ("Incident", subject["incident"], reverse("incidents:incident", args=[subject["incident"]]))
        )
    try:
        session_id = session_for(by, sent.session_public_id or "").public_id
    except SessionNotFound:
        return found
    if "turn" in subject:
        number = data["turn_number"]
        turns = reverse("sessions:turns", args=[session_id])
        found.append(("Turn", f"turn {number}", f"{turns}?from={number}"))
    if "session" in subject:
        number = data["version"]
        found.append(
            ("Session", f"{session_id} v{number}", reverse("sessions:version", args=[session_id, number]))
        )
    else:
        found.append(("Session", session_id, reverse("sessions:time-machine", args=[session_id])))
    return found


@require_safe
def body(request: HttpRequest, webhook_id: str, event_id: str) -> HttpResponse:
    """What is sent, to the byte, as a file."""
    _, sent = _delivery(actor_for(request), webhook_id, event_id)
    content = body_of(sent, data_of)
    if content is None:
        raise NotFound("What this delivery was about is gone, so it has no body any more.")
    return download(content.decode(), name=f"{sent.event_id}.json", content_type="application/json")


@require_safe
def row(request: HttpRequest, webhook_id: str, event_id: str) -> HttpResponse:
    """The row of one delivery in the table of its webhook, for a page that waits for its outcome."""
    by = actor_for(request)
    return _row(request, by, *_delivery(by, webhook_id, event_id))


@require_POST
def send_again(request: HttpRequest, webhook_id: str, event_id: str) -> HttpResponse:
    """Send a delivery once more; htmx gets its row, others go back to the page they came from."""
    by = actor_for(request)
    found, sent = _delivery(by, webhook_id, event_id)
    sent = deliveries.send_again(delivery=sent, by=by)
    when = "now" if found.is_active else "once the webhook is active again"
    messages.success(request, f"{sent.event} is sent again {when}, with the same event id.")
    if for_htmx(request):
        return _row(request, by, found, sent)
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        back = reverse("webhooks:delivery", args=[webhook_id, event_id])
    return redirect(back)


@require_POST
def send_test(request: HttpRequest, webhook_id: str) -> HttpResponse:
    """Send a test, so that one sees how the receiver answers before anything happens."""
    by = actor_for(request)
    found = queries.webhook_for(by, webhook_id)
    deliveries.send_test(webhook=found, by=by)
    when = "is sent now" if found.is_active else "is sent once the webhook is active"
    messages.success(request, f"A test {when}: the first row shows how it is answered.")
    return redirect("webhooks:webhook", webhook_id)


def _row(request: HttpRequest, by: Actor, found: Webhook, sent: Delivery) -> HttpResponse:
    context = {
        "webhook": found,
        "delivery": sent,
        "table": DeliveryTable([sent], webhook=found, may_manage=by.may(KEYS_MANAGE), watched=True),
    }
    return render(request, "webhooks/_row.html", context)


def _delivery(by: Actor, webhook_id: str, event_id: str) -> tuple[Webhook, Delivery]:
    found = queries.webhook_for(by, webhook_id)
    sent = queries.delivery_for(found, event_id)
    sent.webhook = found
    return found, sent


def _say_wrong(form: WebhookForm, wrong: InvalidInput) -> None:
    form.add_error(wrong.param if wrong.param in form.fields else None, wrong.in_words)


def _overdue(since: Any) -> str | None:
    """How long nothing was sent, in words."""
    return relative(since, clock.now()).removesuffix(" ago") if since else None
