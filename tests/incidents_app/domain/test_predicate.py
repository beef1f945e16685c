"""Predicates: JMESPath over a state, from people and agents, so that nothing they write does harm."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents_app.predicate import CHARACTERS_MOST, BadPredicate, check, holds
from tests.documents import documents

pytestmark = [
    pytest.mark.once,
    # JMESPath still reads literals that are no JSON as texts.
    pytest.mark.filterwarnings("ignore:deprecated string literal syntax"),
]
SECONDS = 20  # far more than any of them takes


@pytest.mark.parametrize(
    ("expression", "state", "expected"),
    [
        ("booked", {"booked": True}, True),
        ("booked", {"booked": False}, False),
        ("booked", {}, False),
        ("booked", {"booked": None}, False),
        ("booked", {"booked": ""}, False),
        ("booked", {"booked": []}, False),
        ("booked", {"booked": {}}, False),
        ("seats", {"seats": 0}, True),  # JMESPath's rule: a number is true, also zero
        ("seats == `0`", {"seats": 0}, True),
        ("seats == `0`", {"seats": False}, False),
        ("length(orders[?total > `100`]) == `1`", {"orders": [{"total": 5}, {"total": 500}]}, True),
        ("contains(tags, 'paid') && destination != null", {"tags": ["paid"], "destination": "Lisbon"}, True),
        ("destination", {"destination": "Lisbon"}, True),
        ("length(seats)", {"seats": 2}, False),  # fails on this state
        ("a < 'b'", {"a": 1}, False),
        ("ceil(`1e999`)", {}, False),
        ("sum(a) == `6`", {"a": [1, 2, 3]}, True),
        ("[0]", {"a": 1}, False),
        ("@", {"a": 1}, True),
        ("join(',', sort(keys(@))) == 'a,b'", {"b": 1, "a": 2}, True),
        (
            "max_by(orders, &total).id == 'x'",
            {"orders": [{"id": "y", "total": 1}, {"id": "x", "total": 2}]},
            True,
        ),
    ],
)
def test_what_holds(expression, state, expected):
    assert holds(expression, state) is expected


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "  ",
        "a ==",
        "a b",
        "a[",
        "a[::0",
        "no_such(a)",
        "a[?no_such(b)]",
        "(" * 400,
        "a" * (CHARACTERS_MOST + 1),
    ],
)
def test_what_is_no_predicate_says_so(expression):
    for ask in (check, lambda expression: holds(expression, {})):
        with pytest.raises(BadPredicate) as refused:
            ask(expression)
        assert len(str(refused.value)) < 300
        assert "\n" not in str(refused.value)


HOSTILE = {
    "lists that double": "[@,@][]" + "|[@,@][]" * 100,
    "lists of lists": "|".join(["[@,@]"] * 150) + "|to_string(@)",
    "lists of lists compared": "|".join(["[@,@]"] * 150) + "|[@,[@]]|[0]==[1]",
    "lists of lists that contain": "|".join(["[@,@]"] * 140) + "|contains(@,`1`)",
    "hashes of hashes": "|".join(["{a:@,b:@}"] * 90) + "|to_string(@)",
    "hashes compared": "|".join(["{a:@,b:@}"] * 80) + "|[a,[b]]|[0]==[1]",
    "texts of texts": "to_string([" * 70 + "a" + "])" * 70,
    "joined texts": "join(a,n)|[@,@]" + "|[join(@[0],@),@[0]]" * 30,
    "one long text between many": "join(long,many)",
    "comparisons of comparisons": "a==(" * 150 + "b" + ")" * 150,
    "maps of maps": "map(&map(&map(&map(&@,n),[n,n,n,n][]),[@]),[@])",
    "products": "n[].[@,@,@,@][].[@,@,@,@][].[@,@,@,@][].[@,@,@,@][].[@,@,@,@][]",
    "sorted by what is big": "sort_by([@,@,@], &to_string([@,@,@,@,@]))",
    "nots": "!" * 900 + "a",
    "ands": "a&&" * 300 + "a",
    "deep": "a" + "." + ".".join(["a"] * 400),
    "reversed": "|".join(["[@,@]"] * 60) + "|reverse(@)" * 20,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_expressions_end(name):
    expression = HOSTILE[name]
    assert len(expression) <= CHARACTERS_MOST
    state = {
        "a": "x" * 1000,
        "b": {"a": 1},
        "n": ["y" * 1000] * 50,
        "long": "z" * 1_000_000,
        "many": [""] * 100_000,
    }
    begun = time.monotonic()
    with suppress(BadPredicate):
        assert holds(expression, state) in (True, False)
    assert time.monotonic() - begun < SECONDS


def test_a_plain_predicate_over_a_large_state_is_not_cut_short():
    orders = [{"id": f"o-{number}", "total": number, "items": [{"sku": "x"}] * 3} for number in range(20_000)]
    assert holds("orders[?total == `19999`].id | [0] == 'o-19999'", {"orders": orders})
    assert holds("length(orders[].items[]) == `60000`", {"orders": orders})


WORDS = st.sampled_from(
    [
        *"abc@*&!|.,()[]{}:?<>=`'\"\\-0123 \n",
        "==",
        "!=",
        "&&",
        "||",
        "<=",
        "[?",
        "[]",
        "[*]",
        "[::2]",
        "`1`",
        "`null`",
    ]
    + ["`[1]`", '`"x"`', "'x'", "&a", "a.b", "@", "null", "`Infinity`", "`NaN`", "\u2603", "\ud800", "\x00"]
    + [
        f"{name}("
        for name in ("abs", "avg", "ceil", "contains", "floor", "join", "keys", "length", "map", "max")
    ]
    + [
        f"{name}("
        for name in ("max_by", "merge", "min", "not_null", "reverse", "sort", "sort_by", "starts_with")
    ]
    + [f"{name}(" for name in ("sum", "to_array", "to_number", "to_string", "type", "values")]
)


@given(st.lists(WORDS, max_size=25).map("".join), documents(10))
def test_nothing_written_raises_anything_else(expression, state):
    try:
        found = holds(expression, state)
    except BadPredicate:
        return
    assert found in (True, False)
    assert check(expression) == expression


OF_NUMBERS = "abs avg ceil floor max min sort sum"
OF_ANYTHING = "keys length not_null reverse to_array to_number to_string type values"


@given(
    st.sampled_from([*OF_NUMBERS.split(), *OF_ANYTHING.split()]),
    st.sampled_from(["@", "a", "a.b", "a[]", "[a, b]", "values(@)", "*"]),
    st.one_of(documents(8), st.dictionaries(st.sampled_from("ab"), documents(4))),
)
def test_no_function_fails_loudly_on_any_state(function, argument, state):
    assert holds(f"{function}({argument})", state) in (True, False)
