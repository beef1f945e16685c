"""The page of API keys, above all apps: the keys are those of access, their traces those of sessions."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from sessions_app import actions
from statebase_site.access import queries, usage
from statebase_site.access.actor import Actor
from statebase_site.access.current import actor_for
from statebase_site.access.errors import KeyMadeAlready, KeyRevokedAlready
from statebase_site.access.forms import KeyForm
from statebase_site.access.scopes import KEYS_MANAGE
from statebase_site.access.tables import EndedKeyTable, KeyTable
from statebase_site.base import clock
from statebase_site.base.errors import InvalidInput

_ENDED_SHOWN = 50


@require_http_methods(["GET", "HEAD", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    """The project's keys, and a form for a new one, which is shown in this one answer and nowhere else."""
    by = actor_for(request)
    if request.method != "POST":
        return _list(request, by, KeyForm())
    by.require(KEYS_MANAGE, to="make API keys")
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _list(request, by, form, status=422)
    try:
        key, clear_key = actions.create_key(**form.cleaned_data, by=by)
    except InvalidInput as wrong:
        form.add_error(wrong.param if wrong.param in form.fields else None, wrong.message)
        return _list(request, by, form, status=422)
    except KeyMadeAlready as again:
        messages.warning(request, again.in_words)
        return redirect("access:keys")
    made = {"key": key, "clear_key": clear_key, "address": request.build_absolute_uri("/")}
    return render(request, "access/key_made.html", {"nav_current": "settings"} | made)


def _list(request: HttpRequest, by: Actor, form: KeyForm, status: int = 200) -> HttpResponse:
    usage.write()  # so that the page counts what this process has counted
    now = clock.now()
    may_manage = by.may(KEYS_MANAGE)
    ended = list(queries.keys_ended(by.project, now)[: _ENDED_SHOWN + 1])
    context = {
        "nav_current": "settings",
        "settings_current": "keys",
        "form": form,
        "may_manage": may_manage,
        "table": KeyTable(queries.keys_in_force(by.project, now), request=request, may_manage=may_manage),
        "ended_table": EndedKeyTable(ended[:_ENDED_SHOWN], request=request) if ended else None,
        "ended_count": len(ended[:_ENDED_SHOWN]),
        "more_ended": len(ended) > _ENDED_SHOWN,
    }
    return render(request, "access/keys.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, key_id: str) -> HttpResponse:
    """Ask, then end a key for good."""
    by = actor_for(request)
    by.require(KEYS_MANAGE, to="revoke API keys")
    key = queries.key_for(by, key_id)
    if request.method != "POST":
        return render(request, "access/revoke_key.html", {"nav_current": "settings", "key": key})
    try:
        actions.revoke_key(key=key, by=by)
    except KeyRevokedAlready as done:
        messages.info(request, done.message)
    else:
        messages.success(
            request, f"The key {key.name} ({key.prefix}…) is revoked: from now on it answers 401."
        )
    return redirect("access:keys")
