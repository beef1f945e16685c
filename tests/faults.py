"""Making each statement that writes fail in turn, to look for what is left behind."""

from django.db import DatabaseError, connection, transaction


class Injected(DatabaseError):
    """The fault that the test puts in."""


class FailingAt:
    """Lets the statements that write pass up to one, which fails after it has run."""

    def __init__(self, place):
        self.place = place
        self.writes = 0

    def __call__(self, execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if sql.split(None, 1)[0] in ("INSERT", "UPDATE", "DELETE", "WITH"):
            self.writes += 1
            if self.writes == self.place:
                raise Injected(sql)
        return result


def contents(models):
    """All rows of `models`, as values that can be compared."""
    return {
        model.__name__: sorted(
            repr([bytes(each) if isinstance(each, memoryview) else each for each in row])
            for row in model._base_manager.values_list()
        )
        for model in models
    }


def fail_each_write(act, models, most=60):
    """Let each writing statement of `act` fail in turn, and look that nothing of it is left in `models`.

    Then lets it succeed. Returns how many statements were tried.
    """
    before = contents(models)
    for place in range(1, most):
        failing = FailingAt(place)
        try:
            with transaction.atomic(), connection.execute_wrapper(failing):
                act()
        except (Injected, ExceptionGroup):  # background jobs all have their turn before they tell
            assert contents(models) == before, f"after statement {place}"
            continue
        assert failing.writes == place - 1  # all were tried, then the action succeeded
        assert contents(models) != before
        return failing.writes
    raise AssertionError(f"There are over {most} statements.")
