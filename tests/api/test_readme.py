"""The first API call of the README, as it is written there, against a running server."""

import re
import shlex
from pathlib import Path

from django.conf import settings

README = (Path(settings.BASE_DIR) / "README.md").read_text()
FIRST_CALL = README.partition("## First API call")[2].partition("\n## ")[0]
ADDRESS = "http://127.0.0.1:8000"


def test_the_python_of_the_readme_undoes_a_change(server):
    code = re.search(r"```python\n(.*?)```", FIRST_CALL, re.DOTALL)[1]
    ran: dict = {}
    exec(code.replace(ADDRESS, server.url).replace("sb_…", server.full_key), ran)
    session = ran["sb"].sessions.get(ran["session"].id)
    assert session.state == {"step": "gathering_info", "destination": "NYC"}
    assert ran["sb"].sessions.get_state(session.id).version == 3


def test_the_curl_of_the_readme_makes_a_session(server):
    words = shlex.split(re.search(r"```\n(curl .*?)```", FIRST_CALL, re.DOTALL)[1].replace("\\\n", " "))
    body, url = words[words.index("-d") + 1], next(word for word in words if word.startswith(ADDRESS))
    with server.http() as http:
        # curl's own content type, which says a form: the body is JSON all the same
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = http.post(url.removeprefix(ADDRESS), content=body, headers=form)
    assert (answer.status_code, answer.json()["agent_id"]) == (201, "travel-agent")
