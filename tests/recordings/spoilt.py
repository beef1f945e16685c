"""Records with something wrong in them, for property tests."""

from hypothesis import strategies as st

from tests.documents import documents
from tests.recordings import EXAMPLES, example


def _places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


PLACES = {name: list(_places(value)) for name, value in EXAMPLES.items()}


@st.composite
def spoilt(draw):
    """A record in which a few values are others, or gone."""
    name = draw(st.sampled_from(sorted(EXAMPLES)))
    document = example(name)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(PLACES[name]))
        if not path:
            continue
        holder = document
        try:
            for key in path[:-1]:
                holder = holder[key]
            if draw(st.booleans()):
                holder[path[-1]] = draw(documents(4))
            else:
                del holder[path[-1]]
        except (LookupError, TypeError):
            continue  # an earlier change took the place away
    return document
