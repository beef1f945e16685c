"""Bodies of requests: light checks of each field's kind; what a field may hold beyond that, actions say."""

from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BaseModel, Field, StrictInt, WithJsonSchema

from statebase_site.web.fields import Name, PlainText


def _object(value: Any) -> Any:
    if type(value) is not dict:
        raise ValueError("must be a JSON object.")
    return value


# Not `dict[str, Any]`, which pydantic would copy.
Object = Annotated[Any, AfterValidator(_object), WithJsonSchema({"type": "object"})]
TextOrObject = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})]
Count = Annotated[StrictInt, Field(ge=1)]


class CreateSession(BaseModel):
    """Contract 6.2, Create."""

    agent_id: Name
    user_id: Name | None = None
    initial_state: Object = None
    metadata: Object = None
    ttl_seconds: StrictInt | None = None


class ChangeSession(BaseModel):
    """Contract 6.2, Change metadata."""

    metadata: Object = None
    ttl_seconds: StrictInt | None = None


class Fork(BaseModel):
    """Contract 6.2, Fork."""

    version: StrictInt | None = None
    new_agent_id: Name | None = None


class Context(BaseModel):
    """Contract 6.2, Context."""

    query: PlainText | None = None
    memory_limit: Annotated[StrictInt, Field(ge=0)] = 5
    turn_limit: Annotated[StrictInt, Field(ge=0)] = 10


class ChangeState(BaseModel):
    """Contract 6.3, Update and Replace."""

    state: Object = Field(validation_alias=AliasChoices("state", "updates"))
    reasoning: PlainText | None = None
    expected_version: StrictInt | None = None


class Rollback(BaseModel):
    """Contract 6.3, Rollback."""

    version: StrictInt | None = None
    reason: PlainText | None = None
    expected_version: StrictInt | None = None
    count: Count | None = None
    turn_id: PlainText | None = None
    turn_count: Count | None = None


class Reason(BaseModel):
    """Contract 6.3, Freeze and resume by name."""

    reason: PlainText | None = None


class AddTurn(BaseModel):
    """Contract 6.4, Add."""

    input: TextOrObject
    output: TextOrObject
    reasoning: PlainText | None = None
    metadata: Object = None
    state_before: Object = None
    state_after: Object = None
    expected_version: StrictInt | None = None


class CreateTrace(BaseModel):
    """Contract 6.6, Create."""

    action: Name
    session_id: PlainText | None = None
    details: Object = None
    metadata: Object = None
