"""Where the header's form for times and theme goes when no script takes it."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from statebase_site.web.templatetags.ui import THEME_COOKIE, THEMES
from statebase_site.web.times import MODE_COOKIE, MODES

A_YEAR = 365 * 24 * 3600  # seconds


@login_not_required
@require_POST
def preferences(request: HttpRequest) -> HttpResponse:
    """Remember in this browser how it shows times and colours, then go back to the page it came from."""
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        back = "/"
    answer = HttpResponseRedirect(back)
    for cookie, choices in ((MODE_COOKIE, MODES), (THEME_COOKIE, THEMES)):
        if (choice := request.POST.get(cookie)) in choices:
            answer.set_cookie(cookie, choice, max_age=A_YEAR, samesite="Lax", secure=request.is_secure())
    return answer
