from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.broker.metrics.http.request import BadRequestError, HttpRequest, parse_head


def parsed(*lines: str) -> HttpRequest:
    return parse_head("\r\n".join(lines).encode("latin-1"))


def test_plain_request_is_read() -> None:
    request = parsed(
        "GET /metrics?x=1 HTTP/1.1", "Host: LocalHost:19092", "accept: text/plain", "Accept: */*"
    )
    assert request == HttpRequest(
        method="GET", path="/metrics", host="localhost", accept="text/plain, */*", keeps_alive=True
    )


@pytest.mark.parametrize(
    ("lines", "keeps_alive"),
    [
        (("GET / HTTP/1.1", "Host: a", "Connection: close"), False),
        (("GET / HTTP/1.1", "Host: a", "Connection: TE, Close"), False),
        (("GET / HTTP/1.0",), False),
        (("GET / HTTP/1.0", "Connection: keep-alive"), True),
    ],
)
def test_caller_says_whether_it_will_ask_again(lines: tuple[str, ...], keeps_alive: bool) -> None:
    assert parsed(*lines).keeps_alive is keeps_alive


@pytest.mark.parametrize(
    ("host", "bare"), [("[::1]:80", "::1"), ("[::1]", "::1"), ("a.example:80", "a.example"), ("a", "a")]
)
def test_host_is_without_port_and_brackets(host: str, bare: str) -> None:
    assert parsed("GET / HTTP/1.1", f"Host: {host}").host == bare


@pytest.mark.parametrize(
    "lines",
    [
        ("",),
        ("GET /",),
        ("GET / HTTP/2.0", "Host: a"),
        ("get / HTTP/1.1", "Host: a"),
        ("GET  / HTTP/1.1", "Host: a"),
        ("GET http://a/ HTTP/1.1", "Host: a"),
        ("GET /\x00 HTTP/1.1", "Host: a"),
        ("GET /\xff HTTP/1.1", "Host: a"),
        ("GET / HTTP/1.1",),
        ("GET / HTTP/1.1", "Host: a", "Host: b"),
        ("GET / HTTP/1.1", "Host: a", " folded: b"),
        ("GET / HTTP/1.1", "Host: a", "no colon"),
        ("GET / HTTP/1.1", "Host: a", "name : b"),
        ("GET / HTTP/1.1", "Host: a", "x: \x01"),
        ("GET / HTTP/1.1", "Host: a\nX: b"),
        ("GET / HTTP/1.1", "Host: a", "Content-Length: 5"),
        ("GET / HTTP/1.1", "Host: a", "Content-Length: 0", "Content-Length: 0"),
        ("GET / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked"),
    ],
)
def test_unusual_request_is_refused(lines: tuple[str, ...]) -> None:
    with pytest.raises(BadRequestError) as caught:
        parsed(*lines)
    assert caught.value.status == 400


@given(st.binary(max_size=300) | st.builds(lambda tail: b"GET / HTTP/1.1\r\nHost: a\r\n" + tail, st.binary()))
def test_any_bytes_are_read_or_refused(head: bytes) -> None:
    with suppress(BadRequestError):
        assert parse_head(head).path.startswith("/")
