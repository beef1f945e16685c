"""Any two versions compared: of one session, or of two in the same project."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sessions_app.comparing.address import REMEMBERED, SHAPES, DiffAddress, sides
from sessions_app.comparing.page import ComparisonPage
from sessions_app.errors import InvalidInput
from sessions_app.views.scope import person_and_session
from statebase_site.web.preferences import A_YEAR

_COOKIE = "diff"
_DOWNLOADS = {"patch": "application/json-patch+json", "text": "text/plain; charset=utf-8"}


@require_safe
def diff(request: HttpRequest, session_id: str) -> HttpResponse:
    """How `?right=` differs from `?left=`, shown `?as=` tree, two columns, text, or JSON Patch.

    What can't be read as a version is said by its field; a version or session that is not there is a 404.
    """
    by, agent_session = person_and_session(request, session_id)
    asked = {name: request.GET.get(name, "") for name in ("left", "right")}
    shape = _shape(request)
    context = {"nav_current": "sessions", "tab": "diff", "agent_session": agent_session, "asked": asked}
    try:
        left, right = sides(by, agent_session, asked["left"], asked["right"])
    except InvalidInput as wrong:
        return render(
            request, "sessions_app/diff.html", context | {"wrong": wrong, "shape": shape}, status=400
        )
    page = ComparisonPage(DiffAddress.of(session_id, left, right, shape, request.GET), left, right)
    if request.GET.get("download") in _DOWNLOADS:
        return _download(page, request.GET["download"])
    context |= {"page": page, "shape": shape, "asked": {"left": left.text, "right": right.text}}
    answer = render(request, "sessions_app/diff.html", context)
    if shape in REMEMBERED and request.GET.get("as") == shape:
        answer.set_cookie(_COOKIE, shape, max_age=A_YEAR, samesite="Lax", secure=request.is_secure())
    return answer


def _shape(request: HttpRequest) -> str:
    """How to show it: as asked for, or as this browser did before."""
    asked, before = request.GET.get("as", ""), request.COOKIES.get(_COOKIE, "")
    if asked in SHAPES:
        return asked
    return before if before in REMEMBERED else REMEMBERED[0]


def _download(page: ComparisonPage, kind: str) -> HttpResponse:
    name = f"{page.left.agent_session.public_id}-v{page.left.number}-v{page.right.number}"
    text, ending = (page.whole_patch, "patch.json") if kind == "patch" else (page.whole_text, "diff")
    headers = {"Content-Disposition": f'attachment; filename="{name}.{ending}"', "Cache-Control": "no-store"}
    return HttpResponse(text, content_type=_DOWNLOADS[kind], headers=headers)
