"""Pages of sessions; included at the root under the namespace `sessions`."""

from django.urls import path

from sessions_app.views import acting, time_machine
from sessions_app.views.diff import diff
from sessions_app.views.lineage import lineage
from sessions_app.views.memories import all_memories, delete_memory, memory, session_memories
from sessions_app.views.retention import restore, retention
from sessions_app.views.sessions import session_list
from sessions_app.views.traces import all_traces, session_traces, trace
from sessions_app.views.turns import session_turns, turn_json

app_name = "sessions"

urlpatterns = [
    path("sessions/", session_list, name="list"),
    path("sessions/<str:session_id>/", time_machine.time_machine, name="time-machine"),
    path("sessions/<str:session_id>/v/<int:number>", time_machine.version, name="version"),
    path("sessions/<str:session_id>/v/<int:number>/state.json", time_machine.state, name="state"),
    path("sessions/<str:session_id>/live", time_machine.live, name="live"),
    path("sessions/<str:session_id>/rollback", acting.rollback, name="rollback"),
    path("sessions/<str:session_id>/rollback/preview", acting.rehearse, name="rehearse"),
    path("sessions/<str:session_id>/fork", acting.fork, name="fork"),
    path("sessions/<str:session_id>/freeze", acting.freeze, name="freeze"),
    path("sessions/<str:session_id>/freeze/undo", acting.undo_freeze, name="undo-freeze"),
    path("sessions/<str:session_id>/resume", acting.resume, name="resume"),
    path("sessions/<str:session_id>/diff", diff, name="diff"),
    path("sessions/<str:session_id>/turns", session_turns, name="turns"),
    path("sessions/<str:session_id>/turns/<int:number>.json", turn_json, name="turn-json"),
    path("sessions/<str:session_id>/traces", session_traces, name="traces"),
    path("sessions/<str:session_id>/memories", session_memories, name="memories"),
    path("sessions/<str:session_id>/lineage", lineage, name="lineage"),
    path("memories/", all_memories, name="all-memories"),
    path("memories/<str:memory_id>/", memory, name="memory"),
    path("memories/<str:memory_id>/delete", delete_memory, name="delete-memory"),
    path("settings/retention/", retention, name="retention"),
    path("settings/retention/<str:session_id>/restore", restore, name="restore"),
    path("traces/", all_traces, name="all-traces"),
    path("traces/<str:trace_id>/", trace, name="trace"),
]
