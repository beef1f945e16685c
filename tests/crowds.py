"""Threads that begin at the same moment, each with its own connection to the database."""

import threading

from django.db import connection

from tests.patience import SECONDS


class Crowd:
    """Threads that begin at the same moment, and what each returned or raised."""

    def __init__(self, size, function):
        self.results = [None] * size
        self._function = function
        self._together = threading.Barrier(size)
        self._threads = [threading.Thread(target=self._run, args=[place]) for place in range(size)]
        for thread in self._threads:
            thread.start()

    def _run(self, place):
        try:
            self._together.wait(SECONDS)
            self.results[place] = self._function(place)
        except Exception as error:
            self.results[place] = error
        finally:
            connection.close()

    def end(self):
        for thread in self._threads:
            thread.join(SECONDS)
            assert not thread.is_alive()
        return self.results


def crowd(size, function):
    """What each of `size` threads returned or raised; `function` is given its place, from 0."""
    return Crowd(size, function).end()


def no_errors(results):
    """The results, if nothing was raised."""
    for each in results:
        if isinstance(each, BaseException):
            raise each
    return results
