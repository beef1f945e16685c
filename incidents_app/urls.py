"""Pages of incidents; included at the root under the namespace `incidents`."""

from django.urls import path

from incidents_app.views import incident

app_name = "incidents"

urlpatterns = [
    path("incidents/<str:reference>/", incident.incident, name="incident"),
]
