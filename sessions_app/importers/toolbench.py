"""ToolBench searches: a tree of thoughts, actions and their inputs, in which the agent gives up on a branch
and starts again from an earlier node.

The path that ended in an answer is the run; every other leaf is the end of a dead branch. Without an answer
all of them are, and the run is the question that they leave open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sessions_app.importers.branching import Line, Tree, branches_of, turns_of
from sessions_app.importers.exchanges import Exchanges
from sessions_app.importers.run import RecordingFault, Run, name_from, said, tool_response, unpacked
from sessions_app.importers.values import (
    an_object,
    plain,
    required_object,
    text,
    without,
)
from statebase_site.base.json import JsonObject, JsonValue

NAME = "toolbench"

_FINISH = "Finish"


@dataclass(slots=True)
class _Node:
    """A node of the tree with the path of actions that leads to it."""

    fields: JsonObject
    parent: int
    action: str | None
    path: list[JsonValue] = field(default_factory=list)
    is_leaf: bool = False


def recognises(document: JsonValue) -> bool:
    """Whether the document has a `tree` with a root, and the generation of its answer."""
    return (
        isinstance(document, dict)
        and isinstance(document.get("answer_generation"), dict)
        and isinstance(an_object(document.get("tree")).get("tree"), dict)
    )


def read(document: JsonValue, states_beside: JsonValue = None) -> Run:
    """The run of a search, its dead branches beside it; the state is the path of actions from the root.

    Raises RecordingFault.
    """
    around = required_object(document, "The search", "")
    nodes = list(_nodes(an_object(an_object(around.get("tree")).get("tree"))))
    tree: Tree[int] = Tree()
    answered = _answered(nodes)
    on_the_way = {*answered}
    order = [*answered, *(number for number in range(len(nodes)) if number not in on_the_way)]
    for place, number in enumerate(order):
        parent = nodes[number].parent
        tree.add(place, number, parent if number else None, apart=not answered and parent == 0)
    exchanges = Exchanges("nodes")
    generation = an_object(around.get("answer_generation"))
    exchanges.ask(-1, said(text(generation.get("query"))))

    def take(exchanges: Exchanges, place: int, number: int) -> None:
        _tell(exchanges, place, nodes[number])

    turns = list(turns_of(tree.lines, exchanges, take))

    def about(line: Line[int]) -> JsonObject:
        leaf = nodes[line.nodes[-1][1]].fields
        return {"pruned": leaf.get("pruned"), "depth": leaf.get("depth")}

    return Run(
        agent_id=NAME,
        user_id=None,
        metadata={
            **without(around, "tree", "answer_generation", "compare_candidates"),
            **without(generation, "train_messages", "chain"),
        },
        initial_state={"path": []},
        steps=tuple(turn for _, turn in turns[0]),
        branches=branches_of(tree.lines, turns, about),
    )


def _nodes(root: JsonObject) -> Iterator[_Node]:
    """The nodes, the root first and each before its children. Raises RecordingFault."""
    waiting: list[tuple[JsonValue, str, int, str | None, list[JsonValue]]] = [
        (root, "/tree/tree", -1, None, [])
    ]
    number = 0
    while waiting:
        value, pointer, parent, action, path = waiting.pop()
        fields = required_object(value, "A node of the tree", pointer)
        kind, description = fields.get("node_type"), fields.get("description")
        if not isinstance(kind, str) or not isinstance(description, str):
            raise RecordingFault("A node of the tree has no `node_type` or no `description`.", pointer)
        if kind == "Action":
            action = description
        elif kind == "Action Input" and action is not None:
            step: JsonObject = {"action": action, "input": unpacked(description)}
            if "observation_code" in fields:
                step["observation_code"] = fields["observation_code"]
            path = [*path, step]
        children = fields.get("children", [])
        if not isinstance(children, list):
            raise RecordingFault("The children of a node are no list.", f"{pointer}/children")
        yield _Node(fields, parent, action, path, is_leaf=not children)
        taken = action if kind != "Action Input" else None
        waiting.extend(
            (child, f"{pointer}/children/{index}", number, taken, path)
            for index, child in reversed(list(enumerate(children)))
        )
        number += 1


def _answered(nodes: list[_Node]) -> list[int]:
    """The nodes that led from the root to the answer; none where there is no answer."""
    leaves = (
        number for number, node in enumerate(nodes) if node.is_leaf and node.fields.get("finished") is True
    )
    number = next(leaves, -1)
    path: list[int] = []
    while number >= 0:
        path.append(number)
        number = nodes[number].parent
    return path[::-1]


def _tell(exchanges: Exchanges, place: int, node: _Node) -> None:
    fields, description = node.fields, text(node.fields.get("description"))
    if fields["node_type"] == "Thought":
        if plain(description):
            exchanges.think(place, description)
        return
    if fields["node_type"] != "Action Input" or node.action is None:
        return
    state: JsonObject = {"path": node.path}
    arguments = unpacked(description)
    if node.action == _FINISH:
        finish = an_object(arguments)
        answer = plain(finish.get("final_answer")) or plain(finish.get("return_type")) or description
        result: JsonObject = {
            key: fields[key] for key in ("observation", "observation_code") if key in fields
        }
        exchanges.answer(place, {**said(answer), "finish": arguments, **result}, state_after=state)
        return
    key = str(place)
    exchanges.call(place, name_from(node.action) or "unknown", arguments, key=key, state_after=state)
    if "observation" in fields:
        about = {"observation_code": fields["observation_code"]} if "observation_code" in fields else {}
        exchanges.result(place, tool_response(fields["observation"]), key=key, about=about)
