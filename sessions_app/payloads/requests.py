"""Bodies and filters of requests: light checks of each field's kind; actions check the rest."""

from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, Field, StrictInt, WithJsonSchema

from statebase_site.web.fields import Moment, Name, Object, PlainText

TextOrObject = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})]
Count = Annotated[StrictInt, Field(ge=1)]


class CreateSession(BaseModel):
    """A new session (contract 6.2)."""

    agent_id: Name
    user_id: Name | None = None
    initial_state: Object = None
    metadata: Object = None
    ttl_seconds: StrictInt | None = None


class ChangeSession(BaseModel):
    """Metadata to merge by top-level key, and a new life counted from now (contract 6.2)."""

    metadata: Object = None
    ttl_seconds: StrictInt | None = None


class Fork(BaseModel):
    """The version to fork from, by default the current one (contract 6.2)."""

    version: StrictInt | None = None
    new_agent_id: Name | None = None


class ReadContext(BaseModel):
    """What an agent asks for before its next step (contract 6.2)."""

    query: PlainText | None = None
    memory_limit: Annotated[StrictInt, Field(ge=0)] = 5
    turn_limit: Annotated[StrictInt, Field(ge=0)] = 10


class ChangeState(BaseModel):
    """Keys to merge into the state, or the state that replaces it (contract 6.3)."""

    state: Object = Field(validation_alias=AliasChoices("state", "updates"))
    reasoning: PlainText | None = None
    expected_version: StrictInt | None = None


class Rollback(BaseModel):
    """The version to restore: by number, by steps back, or by a turn (contract 6.3)."""

    version: StrictInt | None = None
    reason: PlainText | None = None
    expected_version: StrictInt | None = None
    count: Count | None = None
    turn_id: PlainText | None = None
    turn_count: Count | None = None


class Reason(BaseModel):
    """Why (contract 6.3)."""

    reason: PlainText | None = None


class AddTurn(BaseModel):
    """One exchange; `state_after` is the whole state after it (contract 6.4, 7.3)."""

    input: TextOrObject
    output: TextOrObject
    reasoning: PlainText | None = None
    metadata: Object = None
    state_before: Object = None
    state_after: Object = None
    expected_version: StrictInt | None = None


class CreateTrace(BaseModel):
    """A note of the client in the audit trail (contract 6.6)."""

    action: Name
    session_id: PlainText | None = None
    details: Object = None
    metadata: Object = None


class TraceFilter(BaseModel):
    """Which traces a list shows; `start_time` and `end_time` are other names (contract 6.6)."""

    user_id: PlainText | None = None
    action: PlainText | None = None
    resource_type: PlainText | None = None
    resource_id: PlainText | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    start_time: Moment | None = None
    end_time: Moment | None = None
