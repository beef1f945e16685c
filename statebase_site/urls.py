"""Every address of the site; the only file that knows all apps."""

from django.contrib.auth.decorators import login_not_required
from django.urls import include, path

from statebase_site import keys_page, members_page, views, webhooks_page
from statebase_site.access import urls as access
from statebase_site.api import api
from statebase_site.web.preferences import preferences

_access = [
    *access.urlpatterns,
    path("settings/keys/", keys_page.keys, name="keys"),
    path("settings/keys/<str:key_id>/revoke/", keys_page.revoke, name="revoke-key"),
    path("settings/members/", members_page.members, name="members"),
    path("settings/members/<int:member_id>/role/", members_page.change_role, name="change-role"),
    path("settings/members/<int:member_id>/remove/", members_page.remove, name="remove-member"),
]

_webhooks = [
    path("settings/webhooks/", webhooks_page.webhooks, name="list"),
    path("settings/webhooks/<str:webhook_id>/", webhooks_page.webhook, name="webhook"),
    path("settings/webhooks/<str:webhook_id>/switch/", webhooks_page.switch, name="switch"),
    path("settings/webhooks/<str:webhook_id>/send-test/", webhooks_page.send_test, name="send-test"),
    path("settings/webhooks/<str:webhook_id>/delete/", webhooks_page.delete, name="delete"),
    path(
        "settings/webhooks/<str:webhook_id>/deliveries/<str:event_id>/",
        webhooks_page.delivery,
        name="delivery",
    ),
    path(
        "settings/webhooks/<str:webhook_id>/deliveries/<str:event_id>/body.json",
        webhooks_page.body,
        name="body",
    ),
    path("settings/webhooks/<str:webhook_id>/deliveries/<str:event_id>/row/", webhooks_page.row, name="row"),
    path(
        "settings/webhooks/<str:webhook_id>/deliveries/<str:event_id>/send-again/",
        webhooks_page.send_again,
        name="send-again",
    ),
]

urlpatterns = [
    path("v1/", api.urls),  # first, since it is asked most
    path("", views.root, name="overview"),
    path("health", views.health, name="health"),
    path("health/live", views.health_live, name="health-live"),
    path("health/ready", views.health_ready, name="health-ready"),
    path("openapi.json", views.openapi, name="openapi"),
    path("api/docs", views.api_docs, name="api-docs"),
    path("preferences/", login_not_required(preferences), name="preferences"),
    path("", include((_access, access.app_name))),
    path("", include((_webhooks, "webhooks"))),
    path("", include("sessions_app.urls")),
    path("", include("incidents_app.urls")),
]

handler400 = "statebase_site.views.bad_request"
handler403 = "statebase_site.views.permission_denied"
handler404 = "statebase_site.views.page_not_found"
handler500 = "statebase_site.views.server_error"
