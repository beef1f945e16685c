"""Pages are for signed-in people: a new page is closed until somebody opens it with `login_not_required`."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse

from statebase_site.access.views import sign_in_and_carry_on
from statebase_site.web.requests import for_htmx


class SignInMiddleware(LoginRequiredMiddleware):
    """Sends strangers to the sign-in page; a form they sent goes with them."""

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Callable[..., Any]
    ) -> HttpResponse:
        # htmx keeps the page and what is typed in it, and says that the sign-in has ended.
        if request.method == "POST" and not for_htmx(request):
            return sign_in_and_carry_on(request)
        return super().handle_no_permission(request, view_func)
