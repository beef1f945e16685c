"""Every address of the site; the only file that knows all apps."""

from django.urls import include, path

from statebase_site import views
from statebase_site.api import api
from statebase_site.web.preferences import preferences

urlpatterns = [
    path("", views.root, name="overview"),
    path("health", views.health, name="health"),
    path("health/live", views.health_live, name="health-live"),
    path("health/ready", views.health_ready, name="health-ready"),
    path("openapi.json", views.openapi, name="openapi"),
    path("preferences/", preferences, name="preferences"),
    path("v1/", api.urls),
    path("", include("statebase_site.access.urls")),
]

handler400 = "statebase_site.views.bad_request"
handler403 = "statebase_site.views.permission_denied"
handler404 = "statebase_site.views.page_not_found"
handler500 = "statebase_site.views.server_error"
