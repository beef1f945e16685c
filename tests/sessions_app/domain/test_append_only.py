"""Rule 6: nothing changes or removes evidence, and the database itself refuses to."""

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction

from incidents_app import triggers as incident_triggers
from incidents_app.models import Pin, TimelineEvent
from sessions_app import triggers
from sessions_app.actions.maintenance import remove_sessions
from sessions_app.models import AgentSession, StateVersion, Trace, Turn
from statebase_site.base.append_only import AppendOnlyError, AppendOnlyModel
from tests import factories as make

APPEND_ONLY = {StateVersion, Turn, Trace}
OF_INCIDENTS = {TimelineEvent, Pin}  # tried in the tests of incidents
APPS = ("sessions_app", "incidents_app", "access")
# Models whose rows change, and why that is no loss of evidence.
MUTABLE = {
    "sessions_app.AgentSession": "the head: all it says of the past stands in versions, turns and traces",
    "sessions_app.EvidenceHold": "opened and released, which is traced",
    "sessions_app.RefusedWrite": "its content can be emptied by an erasure",
    "sessions_app.SessionMetadataPair": "an index",
    "sessions_app.SessionPath": "an index",
    "sessions_app.Memory": "changed and forgotten, which is traced without content",
    "sessions_app.MemoryTag": "an index",
    "sessions_app.Entity": "attributes are merged; each change is traced",
    "incidents_app.Incident": "status, title and summary; each change is a row of the timeline",
    "incidents_app.IncidentCounter": "the last number",
    "incidents_app.Helper": "joined once",
    "incidents_app.Episode": "times, answers and review; each change is a row of the timeline",
    "incidents_app.Override": "made once",
    "incidents_app.AffectedSession": "what was recorded of a session; each change is a row of the timeline",
    "incidents_app.Exemption": "its reason; each change is a row of the timeline",
    "incidents_app.Effect": "what became of it; each change is a row of the timeline",
    "incidents_app.FollowUp": "owner, date, done; each change is a row of the timeline",
    "incidents_app.Scenario": "made once",
    "incidents_app.ScenarioRun": "waiting, then judged for ever",
    "access.Project": "names",
    "access.Membership": "roles",
    "access.ApiKey": "revoked, counted; making and revoking is traced",
    "access.RateBucket": "how much of its rate a key has left",
    "access.SignInToken": "used once",
    "access.IdempotentAnswer": "kept for 24 hours",
}


def test_every_model_is_known_as_append_only_or_mutable():
    models = [each for label in APPS for each in apps.get_app_config(label).get_models()]
    append_only = {each for each in models if issubclass(each, AppendOnlyModel)}
    assert append_only == APPEND_ONLY | OF_INCIDENTS
    assert {each._meta.label for each in models if each not in append_only} == MUTABLE.keys()


@pytest.fixture
def key(db):
    return make.full_key(make.project())


@pytest.fixture
def evidence(key):
    """A row of each append-only table."""
    made = make.session_with_versions(key, 1)
    turn = make.turn(made, by=key, state_after={"a": 1})
    return {
        StateVersion: StateVersion.objects.get(agent_session=made, number=1),
        Turn: Turn.objects.get(public_id=turn.public_id),
        Trace: Trace.objects.get(public_id=turn.trace_id),
    }


def refused(sql, *values):
    with (
        pytest.raises(DatabaseError, match=r"never changed|only removed by the purge"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql, values)


def test_all_triggers_are_there(db):
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        else:
            cursor.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O'")
        found = {name for (name,) in cursor.fetchall()}
    expected = triggers.names() | incident_triggers.names()
    assert expected <= found
    for model in APPEND_ONLY | OF_INCIDENTS:
        assert {f"{model._meta.db_table}_keep_{what}" for what in ("update", "delete")} <= expected


@pytest.mark.parametrize("model", sorted(APPEND_ONLY, key=str), ids=lambda model: model.__name__)
def test_the_database_refuses_to_change_any_column(evidence, model):
    table = model._meta.db_table
    for field in model._meta.concrete_fields:
        refused(f'UPDATE {table} SET "{field.column}" = "{field.column}"')
    refused(f"UPDATE {table} SET actor_label = 'somebody else'")
    fresh = model._base_manager.get(pk=evidence[model].pk)
    assert fresh.actor_label == evidence[model].actor_label


@pytest.mark.parametrize("model", sorted(APPEND_ONLY, key=str), ids=lambda model: model.__name__)
def test_the_database_refuses_to_remove_a_row(evidence, model):
    before = model._base_manager.count()
    refused(f"DELETE FROM {model._meta.db_table}")
    refused(f"DELETE FROM {model._meta.db_table} WHERE actor_label = %s", evidence[model].actor_label)
    assert model._base_manager.count() == before


def test_the_database_refuses_to_remove_a_session(evidence):
    refused("DELETE FROM sessions_app_agentsession")
    with pytest.raises(DatabaseError), transaction.atomic():
        AgentSession.objects.all().delete()
    assert AgentSession.objects.count() == 1
    assert StateVersion.objects.count() == 3


def test_the_database_refuses_to_remove_a_trace_of_no_session(key):
    assert Trace.objects.filter(agent_session=None).exists()  # of the key
    refused("DELETE FROM sessions_app_trace WHERE agent_session_id IS NULL")


def test_a_mark_on_one_session_lets_only_its_rows_go(key):
    kept, going = make.session_with_versions(key, 1), make.session_with_versions(key, 1)
    AgentSession.objects.filter(pk=going.pk).update(purging=True)
    refused("DELETE FROM sessions_app_stateversion")
    remove_sessions(AgentSession.objects.filter(pk=going.pk))
    assert set(StateVersion.objects.values_list("agent_session", flat=True)) == {kept.pk}


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="only SQLite has this statement")
def test_a_row_is_not_replaced_by_one_of_the_same_key(evidence):
    version = evidence[StateVersion]
    columns = ", ".join(f'"{field.column}"' for field in StateVersion._meta.concrete_fields)
    others = columns.replace('"actor_label"', "'somebody else'")
    refused(
        f"INSERT OR REPLACE INTO sessions_app_stateversion ({columns}) "
        f"SELECT {others} FROM sessions_app_stateversion WHERE number = %s",
        version.number,
    )
    assert not StateVersion.objects.filter(actor_label="somebody else").exists()


@pytest.mark.parametrize("model", sorted(APPEND_ONLY, key=str), ids=lambda model: model.__name__)
def test_python_refuses_as_well(evidence, model):
    row = evidence[model]
    row.actor_label = "somebody else"
    for attempt in (
        row.save,
        lambda: row.save(update_fields=["actor_label"]),
        row.delete,
        lambda: model.objects.all().delete(),
        lambda: model.objects.update(actor_label="somebody else"),
        lambda: model.objects.bulk_update([row], ["actor_label"]),
        lambda: model.objects.filter(pk=row.pk).update_or_create(
            pk=row.pk, defaults={"actor_label": "somebody else"}
        ),
    ):
        with pytest.raises(AppendOnlyError):
            attempt()
    assert not model.objects.filter(actor_label="somebody else").exists()


def test_rows_cannot_be_changed_through_a_session_either(evidence):
    session = AgentSession.objects.get()
    for related in (session.versions, session.turns, session.traces):
        with pytest.raises(AppendOnlyError):
            related.update(actor_label="somebody else")
        with pytest.raises(AppendOnlyError):
            related.all().delete()


def test_bulk_create_does_not_overwrite(evidence):
    version = evidence[StateVersion]
    version.actor_label = "somebody else"
    with pytest.raises((DatabaseError, AppendOnlyError)), transaction.atomic():
        StateVersion.objects.bulk_create(
            [version],
            update_conflicts=True,
            unique_fields=["agent_session", "number"],
            update_fields=["actor_label"],
        )
    assert not StateVersion.objects.filter(actor_label="somebody else").exists()


@pytest.mark.django_db(transaction=True)
def test_installing_the_triggers_again_changes_nothing():
    key = make.full_key(make.project())
    make.session_with_versions(key, 1)
    with connection.schema_editor() as editor:
        triggers.install(apps, editor)
    refused("DELETE FROM sessions_app_stateversion")
    refused("UPDATE sessions_app_trace SET action = 'other'")
