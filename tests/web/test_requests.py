"""Reading a request's body without trusting what it says of itself."""

import io

import pytest
from django.core.handlers.wsgi import WSGIRequest

from statebase_site.base.errors import InvalidInput, TooLarge
from statebase_site.web.requests import read_body

LIMIT = 1024


@pytest.fixture(autouse=True)
def limit(settings):
    settings.MAX_BODY_BYTES = settings.DATA_UPLOAD_MAX_MEMORY_SIZE = LIMIT


class Stream(io.BytesIO):
    """Counts what was taken from it."""

    taken = 0

    def read(self, size=-1):
        chunk = super().read(size)
        self.taken += len(chunk)
        return chunk


def request(stream, **environ):
    return WSGIRequest(
        {"REQUEST_METHOD": "POST", "PATH_INFO": "/v1/sessions", "wsgi.input": stream} | environ
    )


def chunked(stream):
    return request(stream, HTTP_TRANSFER_ENCODING="chunked", **{"wsgi.input_terminated": True})


def test_a_body_of_a_known_length_is_read():
    assert read_body(request(Stream(b"{}rest"), CONTENT_LENGTH="2")) == b"{}"


def test_a_chunked_body_is_read_though_nobody_told_its_length():
    body = b"x" * LIMIT
    asked = chunked(Stream(body))
    assert read_body(asked) == body
    assert asked.body == body


def test_without_a_length_a_server_that_does_not_end_the_stream_is_not_waited_for():
    stream = Stream(b"never ends")
    assert read_body(request(stream)) == b""
    assert stream.taken == 0


@pytest.mark.parametrize("ask", [lambda stream: request(stream, CONTENT_LENGTH="1000000"), chunked])
def test_a_body_over_the_limit_is_passed_over_so_that_its_client_hears_the_answer(ask):
    stream = Stream(b"x" * 1_000_000)
    with pytest.raises(TooLarge):
        read_body(ask(stream))
    assert stream.taken == 1_000_000


@pytest.mark.parametrize("ask", [lambda stream: request(stream, CONTENT_LENGTH="9" * 18), chunked])
def test_a_body_without_end_is_left_at_some_point(ask):
    class Endless(Stream):
        def read(self, size=-1):
            assert 0 < size <= 64 * 1024  # never held in memory as a whole
            self.taken += size
            return b"x" * size

    stream = Endless()
    with pytest.raises(TooLarge):
        read_body(ask(stream))
    assert stream.taken < 100 * 1024 * 1024


def test_a_client_that_breaks_off_made_a_mistake():
    class Broken(io.BytesIO):
        def read(self, size=-1):
            raise OSError("connection reset")

    with pytest.raises(InvalidInput, match="broke off"):
        read_body(request(Broken(), CONTENT_LENGTH="10"))
