"""Addresses of signing in and out, and of choosing a project."""

from django.urls import path

from statebase_site.access import views

app_name = "access"
urlpatterns = [
    path("sign-in/", views.sign_in, name="sign-in"),
    path("sign-in/<str:token>/", views.sign_in_link, name="sign-in-link"),
    path("sign-out/", views.sign_out, name="sign-out"),
    path("change-password/", views.change_password, name="change-password"),
    path("use-project/", views.use_project, name="use-project"),
]
