"""The API's door: which keys open it, and what is kept of them."""

from datetime import UTC, datetime, timedelta

import pytest

from statebase_site.access import actions, authentication, usage
from statebase_site.access.actor import key_actor, person_actor, system_actor
from statebase_site.access.errors import KeyNotFound, KeyRevokedAlready
from statebase_site.access.models import ApiKey
from statebase_site.base import clock
from statebase_site.base.errors import InvalidInput, PermissionRefused
from tests.access.people import a_key, a_member, a_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return a_project()


@pytest.fixture
def ask(client, settings):
    settings.ROOT_URLCONF = "tests.web.frame_urls"

    def get(**headers):
        return client.get("/v1/things", headers={name.replace("_", "-"): it for name, it in headers.items()})

    return get


def test_a_clear_key_looks_as_the_contract_says_and_is_nowhere_in_the_database(project):
    key, clear_key = a_key(project)
    assert clear_key.startswith("sb_")
    assert len(clear_key) == 27
    assert clear_key[3:].isalnum()
    assert key.prefix == clear_key[:8]
    row = ApiKey.objects.values().get()
    assert not [name for name, value in row.items() if clear_key[8:] in str(value)]


@pytest.mark.parametrize("header", ["X_API_Key", "Authorization"])
def test_a_key_opens_the_door(project, ask, header):
    _, clear_key = a_key(project)
    assert (
        ask(**{header: f"Bearer {clear_key}" if header == "Authorization" else clear_key}).status_code == 200
    )


def test_with_both_headers_x_api_key_counts(project, ask):
    _, clear_key = a_key(project)
    assert ask(X_API_Key=clear_key, Authorization="Bearer nonsense").status_code == 200
    assert ask(X_API_Key="nonsense", Authorization=f"Bearer {clear_key}").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X_API_Key": ""},
        {"X_API_Key": "sb_unknown"},
        {"X_API_Key": "schlüssel\x80"},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic c2I6c2I="},
    ],
)
def test_without_a_good_key_it_stays_shut(project, ask, headers):
    answer = ask(**headers)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "authentication_failed"
    assert answer.json()["error"]["type"] == "authentication_error"


def test_a_key_is_asked_for_before_the_route_is_looked_at(client):
    assert client.get("/v1/no/such/route").status_code == 401
    assert client.put("/v1/things").status_code == 401


def test_a_session_cookie_opens_nothing(client, project):
    client.force_login(a_member(project))
    assert client.get("/v1/things").status_code == 401


def test_a_revoked_key_answers_401_at_once_in_this_process(project, ask, django_capture_on_commit_callbacks):
    key, clear_key = a_key(project)
    assert ask(X_API_Key=clear_key).status_code == 200
    with django_capture_on_commit_callbacks(execute=True):
        actions.revoke_key(key=key, by=system_actor(project))
        # Until the revocation is committed nothing has changed, for whoever asks meanwhile.
        assert ask(X_API_Key=clear_key).status_code == 200
    assert ask(X_API_Key=clear_key).status_code == 401


def test_a_key_revoked_by_another_process_ends_when_it_is_no_longer_remembered(project, ask, monkeypatch):
    key, clear_key = a_key(project)
    assert ask(X_API_Key=clear_key).status_code == 200
    ApiKey.objects.filter(pk=key.pk).update(revoked_at=clock.now())
    later = authentication.time.monotonic() + authentication.REMEMBERED_SECONDS + 0.1
    monkeypatch.setattr(authentication.time, "monotonic", lambda: later)
    assert ask(X_API_Key=clear_key).status_code == 401


def test_an_expired_key_answers_401_though_it_is_remembered(project, ask):
    now = datetime.now(UTC)
    _, clear_key = a_key(project, expires_at=now + timedelta(hours=1))
    assert ask(X_API_Key=clear_key).status_code == 200
    with clock.at(now + timedelta(hours=1)):
        assert ask(X_API_Key=clear_key).status_code == 401


def test_a_second_request_asks_the_database_nothing_about_the_key(project, ask, django_assert_num_queries):
    _, clear_key = a_key(project)
    ask(X_API_Key=clear_key)
    with django_assert_num_queries(0):
        assert ask(X_API_Key=clear_key).status_code == 200


def test_requests_are_counted_in_batches(project, ask):
    key, clear_key = a_key(project)
    for _ in range(3):
        ask(X_API_Key=clear_key)
    usage.write()
    key.refresh_from_db()
    assert key.total_requests == 3
    assert datetime.now(UTC) - key.last_used_at < timedelta(minutes=1)


def test_a_scope_is_checked_before_the_body_is_read(project, client, settings):
    settings.ROOT_URLCONF = "tests.web.frame_urls"
    _, clear_key = a_key(project, "sessions:read")
    answer = client.post(
        "/v1/things", "not json", content_type="application/json", headers={"X-API-Key": clear_key}
    )
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "permission_denied"
    assert answer.json()["error"]["required_scope"] == "sessions:write"


@pytest.mark.parametrize("name", ["", "   ", "n" * 81, "a\x00b"])
def test_a_key_needs_a_name(project, name):
    with pytest.raises(InvalidInput):
        a_key(project, name=name)


@pytest.mark.parametrize("wrong", [["sessions"], ["sessions:read", "root"]])
def test_an_unknown_scope_is_refused_by_name(project, wrong):
    with pytest.raises(InvalidInput, match=wrong[-1]):
        a_key(project, *wrong)


def test_no_scope_at_all_is_refused(project):
    with pytest.raises(InvalidInput):
        actions.create_key(name="A key", scopes=[], by=system_actor(project))


def test_an_expiry_in_the_past_is_refused(project):
    with pytest.raises(InvalidInput):
        a_key(project, expires_at=datetime.now(UTC))


def test_a_key_gives_no_scope_that_it_lacks(project):
    manager = key_actor(a_key(project, "keys:manage", "sessions:read")[0])
    with pytest.raises(PermissionRefused) as refused:
        actions.create_key(name="More", scopes=["sessions:delete"], by=manager)
    assert refused.value.extras == {"required_scope": "sessions:delete"}
    with pytest.raises(PermissionRefused):
        actions.create_key(name="All", by=manager)
    assert actions.create_key(name="Less", scopes=["sessions:read"], by=manager)


@pytest.mark.parametrize("role", ["viewer", "engineer", "responder"])
def test_only_admins_make_and_revoke_keys(project, role):
    key, _ = a_key(project)
    member = person_actor(a_member(project, role).memberships.get())
    with pytest.raises(PermissionRefused):
        actions.create_key(name="Mine", by=member)
    with pytest.raises(PermissionRefused):
        actions.revoke_key(key=key, by=member)


def test_a_key_of_another_project_does_not_exist(project):
    key, _ = a_key(a_project("Other"))
    with pytest.raises(KeyNotFound):
        actions.revoke_key(key=key, by=system_actor(project))


def test_a_key_is_revoked_once(project):
    key, _ = a_key(project)
    actions.revoke_key(key=key, by=system_actor(project))
    revoked_at = ApiKey.objects.get().revoked_at
    with pytest.raises(KeyRevokedAlready):
        actions.revoke_key(key=key, by=system_actor(project))
    assert ApiKey.objects.get().revoked_at == revoked_at
