"""The door of a gateway: who gets in, from where, with what."""

import json
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import httpx2
import pytest
from tests.gateway.conftest import MakeGateway
from tests.gateway.raw_http import connect, exchange, read_to_end, status_of

from penstock.gateway import connections
from penstock.gateway.app import build_app
from penstock.gateway.gateway import Gateway
from penstock.gateway.security.guard import PUBLIC_PATHS
from penstock.gateway.server import GatewayServer
from penstock.gateway.settings import GatewaySettings

TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture
def locked(make_gateway: MakeGateway, bootstrap: str) -> GatewayServer:
    return make_gateway(bootstrap, token=TOKEN)


def walked(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Every method and path there is, also of parts that this test does not know."""
    for route in routes:
        if (inner := getattr(route, "original_router", None)) is not None:
            yield from walked(inner.routes)
        else:
            yield from ((method, route.path) for method in getattr(route, "methods", None) or ("GET",))


def test_every_route_but_the_public_ones_wants_the_token(locked: GatewayServer) -> None:
    app = build_app(Gateway(GatewaySettings()))
    walks = [(method, path) for method, path in walked(app.routes) if path not in PUBLIC_PATHS]
    with httpx2.Client(base_url=locked.url) as client:
        answers = {walk: client.request(*walk).status_code for walk in walks}

    assert len(answers) > 3
    assert set(answers.values()) == {401}, {walk: code for walk, code in answers.items() if code != 401}


@pytest.mark.parametrize("path", sorted(PUBLIC_PATHS))
def test_public_paths_are_open(locked: GatewayServer, path: str) -> None:
    assert httpx2.get(locked.url + path).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/health/", "//health", "/health/../openapi.json", "/login/..%2fopenapi.json", "/login/../topics"),
        *("/%2Fhealth", "/login%2Flogin.js", "/login%2F..%2Ftopics"),
    ],
)
def test_nothing_beside_public_paths_is_open(locked: GatewayServer, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    assert status_of(exchange(locked.url, request.encode())) == 401


def test_signs_that_need_no_encoding_mean_the_same_encoded(locked: GatewayServer) -> None:
    request = b"GET /%68ealth HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    assert status_of(exchange(locked.url, request)) == 200


@pytest.mark.parametrize(
    ("brought", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        ("Bearer wrong", 401),
        (TOKEN, 401),
        ("Bearer", 401),
    ],
)
def test_token_in_a_header_opens(locked: GatewayServer, brought: str, status: int) -> None:
    answer = httpx2.get(f"{locked.url}/openapi.json", headers={"Authorization": brought})

    assert answer.status_code == status


def test_refusal_names_what_is_wanted(locked: GatewayServer) -> None:
    answer = httpx2.get(f"{locked.url}/openapi.json")

    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert answer.json()["error_code"] == 40101
    assert "Authorization: Bearer" in answer.json()["message"]


def test_login_gives_a_cookie_that_opens_and_is_not_the_token(locked: GatewayServer) -> None:
    with httpx2.Client(base_url=locked.url) as client:
        answer = client.post("/login", json={"token": TOKEN})

        assert answer.status_code == 204
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert TOKEN not in cookie
        assert client.get("/openapi.json").status_code == 200
        assert client.post("/logout").status_code == 204
        assert client.get("/openapi.json").status_code == 401


def test_login_with_another_token_is_refused(locked: GatewayServer) -> None:
    answer = httpx2.post(f"{locked.url}/login", json={"token": "something else entirely"})

    assert answer.status_code == 401
    assert "Set-Cookie" not in answer.headers


def test_person_without_the_token_sees_the_login_page(locked: GatewayServer) -> None:
    answer = httpx2.get(f"{locked.url}/console/topics", headers={"Accept": "text/html"})

    assert answer.status_code == 401
    assert '<form id="form"' in answer.text


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:1234", 200),
        ("[::1]:80", 200),
        ("192.0.2.7", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("", 421),
    ],
)
def test_requests_to_names_that_are_not_ours_are_refused(
    gateway: GatewayServer, host: str, status: int
) -> None:
    request = f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"

    assert status_of(exchange(gateway.url, request.encode())) == status


def test_allowed_host_is_answered(make_gateway: MakeGateway, bootstrap: str) -> None:
    known = make_gateway(bootstrap, allowed_hosts=("Gateway.Example",))

    assert httpx2.get(f"{known.url}/health", headers={"Host": "gateway.example"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_pages_of_others_change_nothing(gateway: GatewayServer, headers: Mapping[str, str]) -> None:
    answer = httpx2.post(f"{gateway.url}/logout", headers=headers)

    assert answer.status_code == 403
    assert answer.json()["error_code"] == 40301


def test_pages_of_our_own_may(gateway: GatewayServer) -> None:
    headers = {"Origin": gateway.url, "Sec-Fetch-Site": "same-origin"}

    assert httpx2.post(f"{gateway.url}/logout", headers=headers).status_code == 204


@pytest.mark.parametrize("site", [{"Sec-Fetch-Site": "same-origin"}, {}])
def test_page_that_came_through_something_that_speaks_tls_logs_in(
    make_gateway: MakeGateway, bootstrap: str, site: dict[str, str]
) -> None:
    known = make_gateway(bootstrap, token=TOKEN, allowed_hosts=("penstock.example.com",))
    headers = {"Host": "penstock.example.com", "Origin": "https://penstock.example.com", **site}
    answer = httpx2.post(f"{known.url}/login", json={"token": TOKEN}, headers=headers)
    assert answer.status_code == 204
    others = headers | {"Origin": "https://penstock.example.com.evil.example"}
    assert httpx2.post(f"{known.url}/login", json={"token": TOKEN}, headers=others).status_code == 403


def test_pages_of_others_read_nothing_but_links_are_followed(gateway: GatewayServer) -> None:
    cross = {"Sec-Fetch-Site": "cross-site"}

    assert httpx2.get(f"{gateway.url}/health", headers=cross).status_code == 403
    followed = cross | {"Sec-Fetch-Mode": "navigate"}
    assert httpx2.get(f"{gateway.url}/health", headers=followed).status_code == 200


def test_forms_are_refused(locked: GatewayServer) -> None:
    answer = httpx2.post(f"{locked.url}/login", data={"token": TOKEN})

    assert answer.status_code == 415
    assert "application/json" in answer.json()["message"]


def test_no_answer_lets_other_origins_read(gateway: GatewayServer) -> None:
    preflight = httpx2.options(
        f"{gateway.url}/health",
        headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"},
    )

    assert preflight.status_code == 403
    assert not [name for name in preflight.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("path", ["/health", "/login", "/no/such/thing"])
def test_every_answer_has_the_headers_that_bind_browsers(gateway: GatewayServer, path: str) -> None:
    headers = httpx2.get(gateway.url + path).headers

    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "server" not in headers


def test_body_that_is_too_large_is_refused(make_gateway: MakeGateway, bootstrap: str) -> None:
    small = make_gateway(bootstrap, body_bytes_max=1000)

    answer = httpx2.post(f"{small.url}/login", json={"token": "x" * 1000})

    assert answer.status_code == 413
    assert "1000" in answer.json()["message"]


def test_body_in_pieces_is_refused_once_it_is_too_large(make_gateway: MakeGateway, bootstrap: str) -> None:
    small = make_gateway(bootstrap, body_bytes_max=1000)
    head = b"POST /login HTTP/1.1\r\nHost: x.x.x.x\r\n".replace(b"x.x.x.x", b"127.0.0.1")
    request = head + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

    answer = exchange(small.url, request + b"400\r\n" + b"x" * 1024 + b"\r\n")

    assert status_of(answer) == 413


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Host: localhost\r\n",
        b"Content-Length: -1\r\n",
        b"Transfer-Encoding: identity, chunked\r\n",
        b"Bad Header: x\r\n",
        b"X: " + b"y" * 20_000 + b"\r\n",
    ],
)
def test_ambiguous_or_endless_headers_are_refused(gateway: GatewayServer, headers: bytes) -> None:
    request = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + headers

    assert status_of(exchange(gateway.url, request + b"Connection: close\r\n\r\n0\r\n\r\n")) in (400, 431)


def test_requests_beyond_the_bound_are_told_to_come_back(make_gateway: MakeGateway, bootstrap: str) -> None:
    busy = make_gateway(bootstrap, requests_max=1)
    head = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with connect(busy.url) as slow:
        slow.sendall(head + b"Content-Length: 13\r\n\r\n")
        _wait_for_status(busy.url, 503)
        slow.sendall(b'{"token": ""}')
        assert slow.recv(65536)
    answer = httpx2.get(f"{busy.url}/health")

    assert answer.status_code == 200


def _wait_for_status(url: str, status: int) -> None:
    for _ in range(200):
        answer = httpx2.get(f"{url}/health")
        if answer.status_code == status:
            assert answer.headers["Retry-After"] == "1"
            assert json.loads(answer.text)["error_code"] == status
            return
    raise AssertionError(f"never {status}")


def test_connection_that_says_nothing_is_ended(
    gateway: GatewayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS_MAX", 0.2)

    with connect(gateway.url) as silent, connect(gateway.url) as halting:
        halting.sendall(b"GET /health HTTP/1.1\r\n")
        assert read_to_end(silent) == b""
        assert read_to_end(halting) == b""


def test_connections_beyond_the_bound_are_refused(
    make_gateway: MakeGateway, bootstrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS_MAX", 1)
    full = make_gateway(bootstrap)

    with connect(full.url):
        assert status_of(exchange(full.url, b"")) == 503


def test_gateway_stops_with_connections_open(bootstrap: str) -> None:
    server = GatewayServer(GatewaySettings(bootstrap_servers=bootstrap, port=0)).start()
    with connect(server.url) as idle:
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        stopping.join(10)

        assert not stopping.is_alive()
        assert isinstance(idle, socket.socket)
