"""Signing in and out, one's own password, and which project one works in."""

from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from statebase_site.access import actions, carried
from statebase_site.access.current import use_project as remember_project
from statebase_site.access.errors import SignInLinkSpent
from statebase_site.access.forms import FirstPasswordForm, NewPasswordForm
from statebase_site.web.requests import is_loopback

_BACKEND = "django.contrib.auth.backends.ModelBackend"


@login_not_required
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in with name and password, then go where one wanted to."""
    if request.method != "POST":
        if request.user.is_authenticated:
            return redirect(_destination(request))
        return _sign_in_page(request, AuthenticationForm(request))
    form = AuthenticationForm(request, data=request.POST)
    if not form.is_valid():
        return _sign_in_page(request, form, status=422)
    login(request, form.get_user())
    form_sent_before = carried.unseal(request.POST.get(carried.FIELD, ""))
    if form_sent_before:
        return render(request, "access/carry_on.html", {"form": form_sent_before})
    return redirect(_destination(request))


def sign_in_and_carry_on(request: HttpRequest) -> HttpResponse:
    """The sign-in page in answer to a form that came too late: it keeps the form for afterwards."""
    return _sign_in_page(request, AuthenticationForm(request), carried_form=carried.seal(request), status=403)


def locked_out(request: HttpRequest, _response: HttpResponse, _credentials: Any) -> HttpResponse:
    """What too many wrong passwords lead to (named in the settings of django-axes)."""
    return _sign_in_page(request, AuthenticationForm(request), locked=True, status=429)


def _sign_in_page(
    request: HttpRequest,
    form: AuthenticationForm,
    *,
    carried_form: str = "",
    locked: bool = False,
    status: int = 200,
) -> HttpResponse:
    wait_minutes = round(settings.AXES_COOLOFF_TIME * 60)
    context = {
        "form": form,
        "next": request.POST.get("next") or request.GET.get("next", ""),
        "carried": carried_form or request.POST.get(carried.FIELD, ""),
        "locked": locked,
        "wait_minutes": wait_minutes,
    }
    answer = render(request, "access/sign_in.html", context, status=status)
    if locked:
        answer["Retry-After"] = str(wait_minutes * 60)
    return answer


def _destination(request: HttpRequest) -> str:
    """The `next` of the request if it is an address of this site, else the overview."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return wanted
    return resolve_url(settings.LOGIN_REDIRECT_URL)


@login_not_required
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the sign-in of this browser."""
    logout(request)
    messages.success(request, "You are signed out.")
    return redirect(settings.LOGOUT_REDIRECT_URL)


@login_not_required
@require_GET  # not HEAD: looking must not spend the link
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in with a one-time link, from this machine only, and open the overview."""
    if not is_loopback(request):
        return render(request, "access/link_refused.html", {"elsewhere": True}, status=403)
    try:
        user = actions.use_sign_in_token(token)
    except SignInLinkSpent as spent:
        if request.user.is_authenticated:
            return redirect(settings.LOGIN_REDIRECT_URL)
        return render(request, "access/link_refused.html", {"reason": spent.message}, status=410)
    login(request, user, backend=_BACKEND)
    return redirect(settings.LOGIN_REDIRECT_URL)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def change_password(request: HttpRequest) -> HttpResponse:
    """Choose a new password; other browsers that are signed in have to sign in again."""
    user = cast(User, request.user)  # the middleware lets nobody else in
    form_class = NewPasswordForm if user.has_usable_password() else FirstPasswordForm
    form = form_class(user, request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "access/change_password.html", {"form": form}, status=status)
    update_session_auth_hash(request, form.save())
    messages.success(request, "Your password is changed; other browsers are signed out.")
    return redirect(settings.LOGIN_REDIRECT_URL)


@require_POST
def use_project(request: HttpRequest) -> HttpResponse:
    """Work in another project; what one looked at belongs to the one before, so the overview opens."""
    remember_project(request, request.POST.get("slug", ""))
    return redirect(settings.LOGIN_REDIRECT_URL)
