"""Freezing, pinning, notes, more sessions, severity over the API (contract 16)."""


def test_freezing_says_where_new_traffic_goes(case, api, agent):
    read = api.json("POST", f"{case.path}/freeze", {"traffic": "human_queue", "traffic_note": "Call 7."})
    assert (read["status"], read["traffic"], read["traffic_note"]) == ("contained", "human_queue", "Call 7.")
    [session] = read["sessions"]
    assert (session["frozen"], session["freeze_version"], session["held"]) == (True, 3, True)
    refused = agent.error("PATCH", f"{case.session}/state", {"state": {"a": 1}}, status=423)
    assert "Call 7." in str(refused)
    # Again it is one version.
    api.json("POST", f"{case.path}/freeze", {"session_id": case.session_id})
    assert api.get(case.session)["version"] == 3
    error = api.error("POST", f"{case.path}/freeze", {"session_id": case.other_id}, status=404)
    assert (error["code"], error["param"]) == ("session_not_found", "session_id")
    error = api.error("POST", f"{case.path}/freeze", {"traffic": "elsewhere"}, status=400)
    assert error["param"] == "traffic"


def test_pins_are_kept_once_with_their_hash(case, api):
    trace = api.get(f"{case.session}/traces")["data"][0]["id"]
    body = {"session_id": case.session_id, "versions": [2, -1, 2], "traces": [trace], "note": "Look"}
    [session] = api.json("POST", f"{case.path}/pin", body)["sessions"]
    assert [(pin["kind"], pin["target"]) for pin in session["pins"]] == [
        ("version", "2"),
        ("version", "1"),
        ("trace", trace),
    ]
    assert all(len(pin["sha256"]) == 64 and pin["note"] == "Look" for pin in session["pins"])
    assert session["steps"]["reconstruct"] == "done"
    assert api.json("POST", f"{case.path}/pin", body)["sessions"][0]["pins"] == session["pins"]
    foreign = api.get(f"/v1/sessions/{case.other_id}/traces")["data"][0]["id"]
    for fields, status in (
        ({}, 400),
        ({"versions": [3]}, 404),
        ({"versions": [-9]}, 404),
        ({"versions": [2**70]}, 404),
        ({"versions": ["1"]}, 400),
        ({"traces": ["trace_unknown"]}, 404),
        ({"traces": [foreign]}, 400),
        ({"versions": [0] * 101}, 400),
    ):
        api.error("POST", f"{case.path}/pin", {"session_id": case.session_id, **fields}, status=status)


def test_a_note_may_lie_in_the_past_and_correct_another(case, api):
    api.json("POST", f"{case.path}/note", {"text": "Called", "occurred_at": 1_600_000_000})
    first = case.timeline()[0]
    assert (first["occurred_at"], first["kind"]) == ("2020-09-13T12:26:40.000000Z", "note")
    body = {"text": "Called twice", "supersedes": first["sequence"], "session_id": case.session_id}
    api.json("POST", f"{case.path}/note", body)
    last = case.timeline()[-1]
    assert (last["supersedes"], last["session_id"]) == (first["sequence"], case.session_id)
    for fields, param in (
        ({"occurred_at": "2099-01-01"}, "occurred_at"),
        ({"occurred_at": "yesterday"}, "occurred_at"),
        ({"supersedes": 99}, "supersedes"),
        ({"supersedes": 2**40}, "supersedes"),
        ({"text": " "}, "text"),
    ):
        error = api.error("POST", f"{case.path}/note", {"text": "a", **fields}, status=400)
        assert error["param"] == param


def test_one_more_session_is_frozen_where_severity_asks(case, api):
    api.json("POST", f"{case.path}/severity", {"severity": "S1"})
    read = api.json("POST", f"{case.path}/sessions", {"session_id": case.other_id})
    assert [each["frozen"] for each in read["sessions"]] == [True, True]
    assert len(api.json("POST", f"{case.path}/sessions", {"session_id": case.other_id})["sessions"]) == 2
    error = api.error("POST", f"{case.path}/sessions", {"session_id": "sess_unknown"}, status=404)
    assert error["code"] == "session_not_found"


def test_raising_is_free_and_lowering_answers_for_each_duty(case, api, agent):
    read = agent.json("POST", f"{case.path}/severity", {"severity": "S1"})
    assert (read["severity"], read["peak_severity"], read["status"]) == ("S1", "S1", "contained")
    assert agent.error("POST", f"{case.path}/severity", {"severity": "S3"}, status=403)
    error = api.error("POST", f"{case.path}/severity", {"severity": "S4"}, status=400)
    assert error["param"] == "reason"
    lower = {"severity": "S4", "reason": "It was a rehearsal"}
    error = api.error("POST", f"{case.path}/severity", lower, status=409)
    owed = [(each["session_id"], each["code"]) for each in error["unmet"]]
    assert owed == [(case.session_id, "divergence"), (case.session_id, "rollback")]
    waived = [{"session_id": name, "step": step, "reason": "No data"} for name, step in owed]
    read = api.json("POST", f"{case.path}/severity", {**lower, "waived": waived})
    assert (read["severity"], read["peak_severity"]) == ("S4", "S1")
    assert [each["step"] for each in read["sessions"][0]["exemptions"]] == ["divergence", "rollback"]
    assert read["sessions"][0]["frozen"] is True


def test_there_are_four_severities(case, api):
    for severity in ("S5", "s1", ""):
        error = api.error("POST", f"{case.path}/severity", {"severity": severity}, status=400)
        assert error["param"] == "severity"
