"""What docs/webhooks.md says is so."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from statebase_site.webhooks import delivering
from statebase_site.webhooks.events import MEANINGS, Event
from tests.webhooks.conftest import work

DOCUMENT = (Path(settings.BASE_DIR) / "docs/webhooks.md").read_text()


@pytest.mark.once
def test_the_document_names_the_events_and_pauses_there_are():
    assert re.findall(r"^\| `([\w.]+)`", DOCUMENT, re.MULTILINE) == list(Event) == list(MEANINGS)
    assert [pause.total_seconds() for pause in delivering.PAUSES] == [10, 60, 600, 3600, 6 * 3600, 24 * 3600]
    pauses = "after 10 seconds, 1 minute, 10 minutes, 1 hour, 6 hours and 24 hours, then given up"
    assert pauses in DOCUMENT


def test_its_sample_check_accepts_what_is_sent_and_nothing_else(api, webhook, receiver):
    (sample,) = re.findall(r"^```python\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    names: dict = {}
    exec(sample, names)
    check = names["is_from_statebase"]
    secret = webhook("session.created", secret="Schlüssel ☃").secret
    api.session({"text": "é\x00☃", "n": 1e300})
    work()
    (request,) = receiver.received
    signature = request.headers["x-statebase-signature"]
    assert check(request.body, signature, secret) is True
    for body, signed, by in (
        (request.body + b" ", signature, secret),
        (request.body, signature.upper(), secret),
        (request.body, "é", secret),
        (request.body, "", secret),
        (request.body, signature, "another"),
    ):
        assert check(body, signed, by) is False
