"""The page of members, above all apps: roles are those of access, their traces those of sessions."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from sessions_app import actions
from statebase_site.access import queries
from statebase_site.access.actor import Actor
from statebase_site.access.current import actor_for
from statebase_site.access.errors import AlreadyExists, LastAdmin
from statebase_site.access.forms import MemberForm, RoleForm
from statebase_site.access.models import Role
from statebase_site.access.scopes import FULL
from statebase_site.access.tables import MemberTable
from statebase_site.base.errors import InvalidInput

_PAGE = {"nav_current": "settings", "settings_current": "members"}


@require_http_methods(["GET", "HEAD", "POST"])
def members(request: HttpRequest) -> HttpResponse:
    """The project's people, and a form for one more, whose first password is shown in this one answer."""
    by = actor_for(request)
    if request.method != "POST":
        return _list(request, by, MemberForm())
    by.require(FULL, to="manage members")
    form = MemberForm(request.POST)
    if not form.is_valid():
        return _list(request, by, form, status=422)
    try:
        member, password = actions.add_member(**form.cleaned_data, by=by)
    except (InvalidInput, AlreadyExists) as wrong:
        form.add_error("username", wrong.message)
        return _list(request, by, form, status=422)
    if password is not None:
        made = {"member": member, "password": password, "address": request.build_absolute_uri("/")}
        return render(request, "access/member_made.html", _PAGE | made)
    messages.success(request, f"{member.user} is {member.role} of {by.project} from now on.")
    return redirect("access:members")


def _list(request: HttpRequest, by: Actor, form: MemberForm, status: int = 200) -> HttpResponse:
    people = queries.members_of(by.project)
    admins = sum(each.role == Role.ADMIN for each in people)
    context = {
        "form": form,
        "roles": RoleForm.explained,
        "may_manage": by.may(FULL),
        "count": len(people),
        "only_admin": admins == 1,
        "table": MemberTable(people),
    }
    return render(request, "access/members.html", _PAGE | context, status=status)


@require_POST
def change_role(request: HttpRequest, member_id: int) -> HttpResponse:
    """Give a member another role."""
    by = actor_for(request)
    by.require(FULL, to="manage members")
    member = queries.member_for(by, member_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "That is no role; choose one of the list.")
        return redirect("access:members")
    try:
        changed = actions.change_role(member=member, role=form.cleaned_data["role"], by=by)
    except LastAdmin as refused:
        messages.error(request, refused.in_words)
    else:
        messages.success(request, f"{changed.user} is {changed.role} of {by.project} from now on.")
    return redirect("access:members")


@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, member_id: int) -> HttpResponse:
    """Ask, then take a person's role in the project away."""
    by = actor_for(request)
    by.require(FULL, to="manage members")
    member = queries.member_for(by, member_id)
    if request.method != "POST":
        return render(request, "access/remove_member.html", _PAGE | {"member": member})
    try:
        actions.remove_member(member=member, by=by)
    except LastAdmin as refused:
        messages.error(request, refused.in_words)
        return redirect("access:members")
    messages.success(request, f"{member.user} belongs to {by.project} no longer.")
    return redirect("overview" if member.user_id == request.user.pk else "access:members")
