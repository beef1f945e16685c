"""The WSGI application that the production server loads."""

import os
from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.utils.http import parse_header_parameters


class Request(WSGIRequest):
    """A request whose content type can't break it.

    Django would read address and form in the charset that the client names, and fail before any middleware
    runs where Python has no text of that name, or where the header can't be taken apart.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except (ValueError, LookupError):
            self.content_type, self.content_params = "", {}


class Handler(WSGIHandler):
    """Django's handler over such requests."""

    request_class = Request


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "statebase_site.settings")
django.setup(set_prefix=False)
application = Handler()
