"""Memories of a project or a session: search, review, edit, delete."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from sessions_app import actions, queries
from sessions_app.errors import InvalidInput, MemoryConflict, MemoryNotFound
from sessions_app.filters import MemoryFilter
from sessions_app.forms import ForgetForm, MemoryForm
from sessions_app.models import AgentSession, Memory
from sessions_app.tables import MemoryTable
from sessions_app.views.scope import person_and_session
from statebase_site.access.actor import Actor
from statebase_site.access.current import actor_for, memberships, new_form_key
from statebase_site.access.scopes import MEMORY_WRITE
from statebase_site.web.listing import list_answer, list_page
from statebase_site.web.wording import count_noun

SHOWN_OF_SEARCH = 50
AGENTS_THRESHOLD = 0.7
"""What the SDK asks for, where nothing else is said."""


@require_safe
def all_memories(request: HttpRequest) -> HttpResponse:
    """Every memory of the project."""
    return _list(request, queries.memories_for(actor_for(request)), None)


@require_safe
def session_memories(request: HttpRequest, session_id: str) -> HttpResponse:
    """Those bound to the session; with `?known=yes` all that its agent may find."""
    by, agent_session = person_and_session(request, session_id)
    choose = queries.visible_to if request.GET.get("known") == "yes" else queries.bound_to
    return _list(request, choose(queries.memories_for(by), agent_session), agent_session)


def _list(
    request: HttpRequest, memories: QuerySet[Memory], agent_session: AgentSession | None
) -> HttpResponse:
    found = MemoryFilter(request.GET, memories)
    chosen = found.qs if found.is_valid() else memories.none()
    query = found.form.cleaned_data.get("q", "").strip() if found.is_valid() else ""
    context = {
        "nav_current": "sessions" if agent_session else "memories",
        "agent_session": agent_session,
        "tab": "memories",
        "filter": found,
        "filtered": any(request.GET.get(name) for name in found.filters),
        "known": request.GET.get("known") == "yes",
        "query": query,
    }
    if query:
        threshold = 0.0 if found.form.cleaned_data["score"] else AGENTS_THRESHOLD
        best = queries.search_memories(chosen, query, limit=SHOWN_OF_SEARCH, threshold=threshold)
        rows = [each.memory for each in best]
        scores = {each.memory.pk: each.score for each in best}
        context["note"] = f"{count_noun(len(rows), 'memory', 'memories')}, best first"
    else:
        page = list_page(request, chosen)
        rows, scores = page.rows, None
        context |= {"page": page, "note": f"{count_noun(chosen.count(), 'memory', 'memories')} in all"}
    context |= {
        "rows": rows,
        "table": MemoryTable(rows, scores=scores, in_session=agent_session is not None),
    }
    return list_answer(request, "sessions_app", "memories", context)


@require_http_methods(["GET", "HEAD", "POST"])
def memory(request: HttpRequest, memory_id: str) -> HttpResponse:
    """One memory, and the form that changes it: once, and only what the person saw."""
    by, found = _person_and_memory(request, memory_id)
    if request.method != "POST":
        return _page(request, by, found, None)
    form = MemoryForm(request.POST)
    if not form.is_valid():
        return _page(request, by, found, form, status=422)
    try:
        actions.update_memory(memory_id=memory_id, by=by, **form.cleaned_data)
    except MemoryConflict as conflict:
        form.add_error(None, conflict.in_words)
        typed = request.POST.copy()
        typed["expected_version"] = str(conflict.extras["current_version"])
        form.data = typed
        return _page(request, by, queries.memory_for(by, memory_id), form, status=409)
    messages.success(request, "The memory is changed: agents find the new text from now on.")
    return redirect("sessions:memory", memory_id)


@require_POST
def delete_memory(request: HttpRequest, memory_id: str) -> HttpResponse:
    """Forget a memory. Sent twice, it says that it is gone."""
    try:
        by, found = _person_and_memory(request, memory_id)
        form = ForgetForm(request.POST)
        if not form.is_valid():
            raise InvalidInput("Nothing was deleted: the reason is too long.", param="reason")
        actions.delete_memory(memory_id=memory_id, reason=form.cleaned_data["reason"], by=by)
    except MemoryNotFound:
        messages.info(request, "The memory is gone already: nothing was changed.")
        return redirect("sessions:all-memories")
    messages.success(request, "The memory is deleted: nobody finds it any more.")
    if found.agent_session:
        return redirect("sessions:memories", found.agent_session.public_id)
    return redirect("sessions:all-memories")


def _person_and_memory(request: HttpRequest, memory_id: str) -> tuple[Actor, Memory]:
    found = queries.memory_of_projects(memory_id, [each.project for each in memberships(request)])
    return actor_for(request, found.project), found


def _page(
    request: HttpRequest, by: Actor, found: Memory, form: MemoryForm | None, *, status: int = 200
) -> HttpResponse:
    now = {
        "expected_version": found.version,
        "content": found.content,
        "type": found.type,
        "tags": found.tags,
    }
    context = {
        "nav_current": "memories",
        "memory": found,
        "form": form or MemoryForm(initial=now),
        "forget": ForgetForm(auto_id="forget_%s"),
        "off": _why_off(by, found),
        "form_key": new_form_key,
    }
    return render(request, "sessions_app/memory.html", context, status=status)


def _why_off(by: Actor, found: Memory) -> str:
    """Why the person may not change it; empty where they may."""
    if not by.may(MEMORY_WRITE):
        return "Your role only reads; an engineer of the project may."
    if found.agent_session and found.agent_session.is_frozen:
        return "Its session is frozen: what it remembers stays as it is until the session is resumed."
    return ""
