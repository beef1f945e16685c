"""One try to send: what goes over the wire, and how every ending is told (contract 11)."""

from __future__ import annotations

import hashlib
import hmac
import socket
import ssl
import time
from pathlib import Path
from threading import Event

import pytest

from statebase_site.webhooks import sending
from statebase_site.webhooks.sending import send
from tests.patience import SECONDS
from tests.webhooks.receiver import Receiver, answer

BODY = '{"id":"evt_1","data":{"big":1208925819614629174706176,"text":"é\\u0000☃","n":1.0}}'.encode()


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.end()


def sent(receiver, url=None, *, secret="not a secret", private_allowed=True):
    return send(
        url or receiver.url,
        BODY,
        secret=secret,
        event="session.updated",
        event_id="evt_1",
        version="1.2.3",
        private_allowed=private_allowed,
    )


@pytest.fixture
def short_of_time(monkeypatch):
    """Lets a try end after a third of a second instead of ten, and looks that it takes not much longer."""
    monkeypatch.setattr(sending, "SECONDS_MOST", 0.3)
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("secret", ["not a secret", "Schlüssel ☃ 🔑"])
def test_the_body_is_signed_to_the_byte(receiver, secret):
    attempt = sent(receiver, secret=secret)
    assert (attempt.status, attempt.fault, attempt.said, attempt.succeeded) == (200, None, None, True)
    (request,) = receiver.received
    assert request.line == "POST /hook?from=statebase HTTP/1.1"
    assert request.body == BODY
    assert request.headers == {
        "host": f"127.0.0.1:{receiver.port}",
        "content-type": "application/json",
        "content-length": str(len(BODY)),
        "user-agent": "StateBase/1.2.3",
        "connection": "close",
        "x-statebase-event": "session.updated",
        "x-statebase-delivery": "evt_1",
        "x-statebase-signature": hmac.new(secret.encode(), BODY, hashlib.sha256).hexdigest(),
    }


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_success_and_its_body_is_not_read(receiver, status):
    receiver.behave = endless(f"HTTP/1.1 {status} Fine\r\nContent-Length: 99999999999\r\n\r\n".encode())
    attempt = sent(receiver)
    assert (attempt.status, attempt.succeeded, attempt.said) == (status, True, None)


@pytest.mark.parametrize("status", [101, 300, 304, 400, 401, 404, 410, 429, 500, 503, 599, 199])
def test_everything_else_is_a_failure_that_says_how_the_answer_began(receiver, status):
    receiver.answer = answer(status, b"no \xff\x00 " + 500 * "é".encode())
    if status in (101, 199, 304):  # these have no body
        receiver.answer = f"HTTP/1.1 {status} Whatever\r\n\r\n".encode()
    attempt = sent(receiver)
    if status in (101, 199):  # goes before an answer, which did not come
        assert (attempt.status, attempt.succeeded) == (None, False)
        return
    assert (attempt.status, attempt.fault, attempt.succeeded) == (status, None, False)
    assert attempt.said == ("" if status == 304 else ("no \ufffd\ufffd " + 500 * "é")[:200])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(receiver, status):
    inside = Receiver()
    for where in (inside.url, "http://169.254.169.254/latest/meta-data", "/hook?again"):
        receiver.answer = answer(status, b"", f"Location: {where}")
        assert (sent(receiver).status, sent(receiver).succeeded) == (status, False)
    inside.end()
    assert inside.received == []
    assert {each.line for each in receiver.received} == {"POST /hook?from=statebase HTTP/1.1"}


def endless(head: bytes, piece: bytes = b"x" * 1000, pause: float = 0):
    """Answers with `head`, then with `piece` for as long as somebody reads."""

    def behave(connection):
        connection.sendall(head)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            connection.sendall(piece)
            time.sleep(pause)  # between bytes: it is the other side that drips

    return behave


DRIPPING = {
    "nothing at all": lambda connection: connection.recv(1),
    "a status line, byte by byte": endless(b"", b"H", 0.05),
    "headers without end": endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", 0.05),
    "informational answers without end": endless(b"", b"HTTP/1.1 102 Processing\r\n\r\n", 0.01),
}


@pytest.mark.parametrize("name", DRIPPING)
def test_who_drips_is_waited_for_ten_seconds_in_all(receiver, short_of_time, name):
    receiver.behave = DRIPPING[name]
    attempt = sent(receiver)
    assert attempt.status is None
    assert attempt.fault == "No answer within 0 seconds."


@pytest.mark.parametrize("head", [b"Content-Length: 9999\r\n", b"Transfer-Encoding: chunked\r\n", b""])
def test_a_failure_with_a_body_that_does_not_end_keeps_its_status(receiver, short_of_time, head):
    piece = b"3\r\nno!\r\n" if b"chunked" in head else b"no!"
    receiver.behave = endless(b"HTTP/1.1 500 Oh\r\n" + head + b"\r\n", piece, 0.1)
    attempt = sent(receiver)
    assert (attempt.status, attempt.fault) == (500, None)
    assert attempt.said.startswith("no!")


def test_huge_and_packed_answers_are_not_read_whole(receiver):
    receiver.behave = endless(b"HTTP/1.1 500 Oh\r\nContent-Length: 99999999999\r\n\r\n", b"x" * 1_000_000)
    assert sent(receiver).said == "x" * 200
    receiver.answer = answer(500, b"\x1f\x8b" + b"\x00" * 100, "Content-Encoding: gzip")
    receiver.behave = lambda connection: connection.sendall(receiver.answer)
    assert sent(receiver).said.startswith("\x1f\ufffd")


GARBAGE = {
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "binary": bytes(range(256)) * 10,
    "closed at once": b"",
    "headers too large": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000,
    "a header that is none": b"HTTP/1.1 200 OK\r\n: x\r\n\r\n",
    "half an answer": b"HTTP/1.1 200",
    "status that is none": b"HTTP/1.1 abc Fine\r\n\r\n",
    "HTTP 2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_a_failure_in_words(receiver, name):
    receiver.answer = GARBAGE[name]
    attempt = sent(receiver)
    assert (attempt.status, attempt.fault) == (None, "What answers there does not speak HTTP.")


@pytest.mark.parametrize("chunks", [b"zz\r\nno\r\n", b"-1\r\n", b"ffffffffffffffff\r\nno", b"2\r\nno"])
def test_chunked_nonsense_is_a_failure_too(receiver, chunks):
    receiver.answer = b"HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
    attempt = sent(receiver)
    assert (attempt.status, attempt.succeeded) in ((500, False), (None, False))


def test_who_can_not_be_reached_is_told_apart(receiver):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        refused = sent(receiver, f"http://127.0.0.1:{unused.getsockname()[1]}/")
    assert refused.fault == "It could not be reached: Connection refused."
    receiver.answer = b"plain text"
    assert sent(receiver, f"https://127.0.0.1:{receiver.port}/").fault.startswith("It could not be reached: ")
    long_label = sent(receiver, f"http://{'x' * 70}.example.org/")
    assert long_label.fault.startswith("It could not be reached: ")


def test_a_name_that_nobody_knows(receiver, monkeypatch):
    def unknown(*args, **more):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    attempt = sent(receiver, "http://nowhere.example/", private_allowed=False)
    assert attempt.fault == "It could not be reached: Name or service not known."


def test_a_name_that_takes_too_long_to_look_up(receiver, monkeypatch, short_of_time):
    answered = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **more: answered.wait(SECONDS) and [])
    attempt = sent(receiver, "http://slow.example/")
    answered.set()
    assert (attempt.status, attempt.fault) == (None, "No answer within 0 seconds.")


def test_a_certificate_that_nobody_signed_is_refused(receiver):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).with_name("self_signed.pem"))
    receiver.wrap(context)
    attempt = sent(receiver, f"https://127.0.0.1:{receiver.port}/")
    assert attempt.fault.startswith("Its certificate is not trusted: self")
    assert receiver.received == []


# Private networks ---------------------------------------------------------------------------------------

PRIVATE = (
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "0.0.0.0",
    "100.64.1.1",
    "192.0.0.8",
    "224.0.0.1",
    "240.0.0.1",
    "::1",
    "::",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::7f00:1",
    "2002:7f00:1::",
    "fc00::1",
    "fe80::1%lo",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
)


@pytest.fixture
def resolver(monkeypatch):
    """Plays the resolver: each look-up of a name takes the next of `answers`; addresses stay themselves."""
    real = socket.getaddrinfo
    answers: list[list[str]] = []

    def look_up(host, port, *args, **more):
        if not host.endswith(".example"):
            return real(host, port, *args, **more)
        return [real(each, port, *args, **more)[0] for each in answers.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return answers


@pytest.fixture
def connections(monkeypatch):
    """Every address that a connection was tried to; all are refused."""
    tried = []

    def refuse(address, *args, **more):
        tried.append(address[0])
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket, "create_connection", refuse)
    return tried


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_not_connected_to_however_they_are_named(
    receiver, resolver, connections, address
):
    literal = f"[{address}]" if ":" in address else address
    resolver += [[address], ["93.184.216.34", address], [address, "93.184.216.34"]]
    for host in (literal, "evil.example", "evil.example", "evil.example"):
        attempt = sent(receiver, f"http://{host}/", private_allowed=False)
        assert "is inside a private network" in attempt.fault, host
        assert "STATEBASE_WEBHOOK_PRIVATE_NETWORKS" in attempt.fault
    assert connections == []


def test_what_is_connected_to_is_what_was_checked(receiver, resolver, connections):
    # The name points elsewhere as soon as it was looked up once.
    resolver += [["93.184.216.34", "2606:2800:220::1"], ["127.0.0.1"]]
    attempt = sent(receiver, f"http://evil.example:{receiver.port}/", private_allowed=False)
    assert connections == ["93.184.216.34", "2606:2800:220::1"]
    assert attempt.fault == "It could not be reached: Connection refused."
    assert resolver == [["127.0.0.1"]]


def test_older_spellings_are_seen_through_when_sent(receiver, connections):
    for host in ("2130706433", "0x7f.1", "0177.0.0.1", "127.1"):
        assert "private network" in sent(receiver, f"http://{host}/", private_allowed=False).fault
    assert connections == []


def test_if_one_address_does_not_answer_the_next_is_tried(receiver, resolver):
    resolver.append(["127.0.0.2", "::1", "127.0.0.1"])  # the receiver listens on the last alone
    attempt = sent(receiver, f"http://many.example:{receiver.port}/")
    assert attempt.succeeded
    assert receiver.received[0].headers["host"] == f"many.example:{receiver.port}"


def test_the_host_of_an_ipv6_address_keeps_its_brackets():
    try:
        receiver = Receiver("::1")
    except OSError:
        pytest.skip("This machine knows no IPv6.")
    url = f"http://[::1]:{receiver.port}/"
    assert sent(receiver, url).succeeded
    receiver.end()
    assert receiver.received[0].headers["host"] == f"[::1]:{receiver.port}"


def test_proxies_of_the_environment_are_not_used(receiver, monkeypatch):
    proxy = Receiver()
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    assert sent(receiver).succeeded
    proxy.end()
    assert (len(receiver.received), proxy.received) == (1, [])
