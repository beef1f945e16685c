"""Pages of incidents; included at the root under the namespace `incidents`."""

from django.urls import path

from incidents_app.views import (
    ending,
    exports,
    incident,
    noting,
    preventing,
    recovering,
    reviewing,
    scenarios,
    securing,
)
from incidents_app.views.filing import file
from incidents_app.views.listing import incident_list
from incidents_app.views.numbers import numbers_page
from incidents_app.views.of_session import of_session

app_name = "incidents"

urlpatterns = [
    path("incidents/", incident_list, name="list"),
    path("incidents/file", file, name="file"),
    path("incidents/numbers", numbers_page, name="numbers"),
    path("incidents/of-session/<str:session_id>", of_session, name="of-session"),
    path("incidents/<str:reference>/", incident.incident, name="incident"),
    path("incidents/<str:reference>/live", incident.live, name="live"),
    path("incidents/<str:reference>/postmortem.md", exports.postmortem, name="postmortem"),
    path("incidents/<str:reference>/bundle.json", exports.bundle, name="bundle"),
    path(
        "incidents/<str:reference>/scenarios/<str:scenario_id>/test.py",
        exports.scenario_test,
        name="scenario-test",
    ),
    path("incidents/<str:reference>/freeze", securing.Freeze.as_view(), name="freeze"),
    path("incidents/<str:reference>/add-session", securing.AddSession.as_view(), name="add-session"),
    path("incidents/<str:reference>/traffic", securing.Traffic.as_view(), name="traffic"),
    path("incidents/<str:reference>/severity", securing.Severity.as_view(), name="severity"),
    path("incidents/<str:reference>/exempt", securing.Exempt.as_view(), name="exempt"),
    path("incidents/<str:reference>/note", noting.Note.as_view(), name="note"),
    path("incidents/<str:reference>/pin", noting.Pin.as_view(), name="pin"),
    path("incidents/<str:reference>/edit", noting.Edit.as_view(), name="edit"),
    path("incidents/<str:reference>/commander", noting.Commander.as_view(), name="commander"),
    path("incidents/<str:reference>/join", noting.Join.as_view(), name="join"),
    path(
        "incidents/<str:reference>/divergence/<str:session_id>",
        recovering.Divergence.as_view(),
        name="divergence",
    ),
    path(
        "incidents/<str:reference>/rollback/<str:session_id>", recovering.Rollback.as_view(), name="rollback"
    ),
    path("incidents/<str:reference>/effect", recovering.Effect.as_view(), name="effect"),
    path("incidents/<str:reference>/correct/<str:session_id>", recovering.Correct.as_view(), name="correct"),
    path("incidents/<str:reference>/resume", recovering.Resume.as_view(), name="resume"),
    path("incidents/<str:reference>/causes", preventing.Causes.as_view(), name="causes"),
    path("incidents/<str:reference>/follow-up", preventing.FollowUp.as_view(), name="follow-up"),
    path(
        "incidents/<str:reference>/follow-ups/<int:number>/done",
        preventing.FollowUpDone.as_view(),
        name="follow-up-done",
    ),
    path(
        "incidents/<str:reference>/follow-ups/<int:number>/assign",
        preventing.FollowUpAssign.as_view(),
        name="follow-up-assign",
    ),
    path("incidents/<str:reference>/scenarios/new", scenarios.ScenarioNew.as_view(), name="scenario-new"),
    path(
        "incidents/<str:reference>/scenarios/<str:scenario_id>/run",
        scenarios.RunRequest.as_view(),
        name="run-request",
    ),
    path(
        "incidents/<str:reference>/scenarios/<str:scenario_id>/report",
        scenarios.RunReport.as_view(),
        name="run-report",
    ),
    path("incidents/<str:reference>/review", reviewing.Review.as_view(), name="review"),
    path("incidents/<str:reference>/approve", reviewing.Approve.as_view(), name="approve"),
    path("incidents/<str:reference>/resolve", ending.Resolve.as_view(), name="resolve"),
    path("incidents/<str:reference>/close", ending.Close.as_view(), name="close"),
    path("incidents/<str:reference>/reopen", ending.Reopen.as_view(), name="reopen"),
    path("incidents/<str:reference>/decline", ending.Decline.as_view(), name="decline"),
    path("incidents/<str:reference>/merge", ending.Merge.as_view(), name="merge"),
    path("incidents/<str:reference>/override", ending.Override.as_view(), name="override"),
]
