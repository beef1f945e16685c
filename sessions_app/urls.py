"""Pages of sessions; included at the root under the namespace `sessions`."""

from django.urls import path

from sessions_app.views.sessions import session_list
from sessions_app.views.traces import all_traces, session_traces, trace
from sessions_app.views.turns import session_turns

app_name = "sessions"

urlpatterns = [
    path("sessions/", session_list, name="list"),
    path("sessions/<str:session_id>/turns", session_turns, name="turns"),
    path("sessions/<str:session_id>/traces", session_traces, name="traces"),
    path("traces/", all_traces, name="all-traces"),
    path("traces/<str:trace_id>/", trace, name="trace"),
]
