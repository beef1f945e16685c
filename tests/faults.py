"""Making each statement that writes fail in turn, to look for what is left behind."""

from django.db import DatabaseError, connection


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
    found = {}
    with connection.cursor() as cursor:
        for model in models:
            cursor.execute(f'SELECT * FROM "{model._meta.db_table}"')
            found[model.__name__] = sorted(map(repr, cursor))
    return found


def fail_each_write(act, models, most=60):
    """Let each writing statement of `act` fail in turn, and look that nothing of it is left in `models`.

    `act` is one transaction, or jobs of one each: nobody else takes back what it wrote. Then lets it succeed.
    Returns how many statements were tried.
    """
    before = contents(models)
    for place in range(1, most):
        failing = FailingAt(place)
        try:
            with connection.execute_wrapper(failing):
                act()
        except (Injected, ExceptionGroup):  # background jobs all have their turn before they tell
            assert contents(models) == before, f"after statement {place}"
            continue
        assert failing.writes == place - 1  # all were tried, then the action succeeded
        assert contents(models) != before
        return failing.writes
    raise AssertionError(f"There are over {most} statements.")
