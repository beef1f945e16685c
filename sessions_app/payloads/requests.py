"""Bodies and filters of requests: light checks of each field's kind; actions check the rest."""

from typing import Annotated, Any, Literal

from django.http import QueryDict
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StrictInt,
    WithJsonSchema,
)

from sessions_app.limits import MEMORY_CHARACTERS, REASONING_BYTES, TAGS_MOST, TTL_SECONDS_MAX
from statebase_site.web.fields import NOT_BLANK, Moment, Name, Object, PlainText, limit_up_to, told

_TURN_TEXT = {"type": "object", "properties": {"type": {"type": ["string", "null"]}}}
TextOrObject = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, _TURN_TEXT]})]
Count = Annotated[StrictInt, Field(ge=1)]
Life = Annotated[StrictInt, told(minimum=1, maximum=TTL_SECONDS_MAX)]
Why = Annotated[PlainText, told(description=f"At most {REASONING_BYTES // 1024} KiB.")]
Content = Annotated[PlainText, told(pattern=NOT_BLANK, maxLength=MEMORY_CHARACTERS)]
Tags = Annotated[list[Name], told(maxItems=TAGS_MOST)]
Query = Annotated[PlainText, told(pattern=NOT_BLANK)]


def _one_of(**kinds: JsonValue) -> ConfigDict:
    """Of these fields, each of its kind, one at least is needed; so the OpenAPI document says it."""
    choices: list[JsonValue] = [
        {"required": [name], "properties": {name: {"type": kind}}} for name, kind in kinds.items()
    ]
    return ConfigDict(json_schema_extra={"anyOf": choices})


MOST_ROWS = 100  # of a page


class CreateSession(BaseModel):
    """A new session (contract 6.2)."""

    agent_id: Name
    user_id: Name | None = None
    initial_state: Object = None
    metadata: Object = None
    ttl_seconds: Life | None = None


class ChangeSession(BaseModel):
    """Metadata to merge by top-level key, and a new life counted from now (contract 6.2)."""

    metadata: Object = None
    ttl_seconds: Life | None = None


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
    reasoning: Why | None = None
    expected_version: StrictInt | None = None


class Rollback(BaseModel):
    """The version to restore: by number, by steps back, or by a turn (contract 6.3)."""

    model_config = _one_of(version="integer", count="integer", turn_id="string", turn_count="integer")

    version: StrictInt | None = None
    reason: Why | None = None
    expected_version: StrictInt | None = None
    count: Count | None = None
    turn_id: PlainText | None = None
    turn_count: Count | None = None


class Reason(BaseModel):
    """Why (contract 6.3)."""

    reason: Why | None = None


class AddTurn(BaseModel):
    """One exchange; `state_after` is the whole state after it (contract 6.4, 7.3)."""

    input: TextOrObject
    output: TextOrObject
    reasoning: Why | None = None
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


class AddMemory(BaseModel):
    """A text to be found again (contract 6.5)."""

    content: Content
    type: Name = Field("general", validation_alias=AliasChoices("type", "memory_type"))
    session_id: PlainText | None = None
    user_id: Name | None = None
    agent_id: Name | None = None
    tags: Tags = []
    metadata: Object = None
    embed: StrictBool = True


class ChangeMemory(BaseModel):
    """What is to change of a memory: `tags` replaces, `metadata` merges (contract 6.5)."""

    content: Content | None = None
    type: Name | None = Field(None, validation_alias=AliasChoices("type", "memory_type"))
    tags: Tags | None = None
    metadata: Object = None


def _texts(value: Any) -> Any:
    """A list of texts, given as one or separated by commas."""
    return [each.strip() for each in value.split(",") if each.strip()] if isinstance(value, str) else value


_LIST_OR_TEXT = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}
Texts = Annotated[list[PlainText], BeforeValidator(_texts), WithJsonSchema(_LIST_OR_TEXT)]


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number from 0 to 1.")
    return value


class SearchMemories(BaseModel):
    """What is looked for, and among which memories (contract 6.5)."""

    model_config = ConfigDict(json_schema_extra={"required": ["query"]})

    query: Query | None = None
    session_id: PlainText | None = None
    user_id: PlainText | None = None
    agent_id: PlainText | None = None
    type: PlainText | None = None
    types: Texts = []
    tags: Texts = []
    scope: Literal["session"] | None = None
    limit: Annotated[StrictInt, Field(ge=1)] | None = None
    top_k: Annotated[StrictInt, Field(ge=1)] | None = None
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), BeforeValidator(_number)] = 0.7

    @property
    def all_types(self) -> list[str]:
        """`types`, and `type` where it is given."""
        return [*self.types, *([self.type] if self.type else [])]


class FilterMemories(BaseModel):
    """The same in an address, where every value is a text and lists may be repeated or have commas."""

    user_id: PlainText | None = None
    agent_id: PlainText | None = None
    type: PlainText | None = None
    types: PlainText | None = None
    tags: PlainText | None = None
    limit: limit_up_to(MOST_ROWS) | None = None  # type: ignore[valid-type]

    def as_body(self, address: QueryDict) -> SearchMemories:
        """As a body says it."""
        given: dict[str, Any] = self.model_dump(exclude_none=True)
        for name in ("types", "tags"):
            given[name] = [part for raw in address.getlist(name) for part in _texts(raw)]
        return SearchMemories.model_construct(**given)


class ListOrSearchMemories(FilterMemories):
    """With a query it is a search."""

    query: Query | None = None
    session_id: PlainText | None = None
    scope: Literal["session"] | None = None
    top_k: limit_up_to(MOST_ROWS) | None = None  # type: ignore[valid-type]
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.7


class SearchMemoriesByAddress(ListOrSearchMemories):
    """A search that is nothing else."""

    query: Query


class CreateEntity(BaseModel):
    """A thing that a session knows of (contract 6.7)."""

    session_id: PlainText
    entity_type: Name
    entity_id: Name
    attributes: Object = None


class ChangeEntity(BaseModel):
    """Attributes to merge by top-level key (contract 6.7)."""

    attributes: Object = Field()
