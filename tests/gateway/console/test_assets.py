"""The console's files: what is served, what is not, and that browsers see a new version at once."""

import json
from contextlib import closing
from http.client import HTTPConnection

import httpx2
import pytest

from penstock.gateway.console.assets import assets
from penstock.gateway.server import GatewayServer


def test_every_address_below_the_console_is_its_page(gateway: GatewayServer) -> None:
    for path in ("/console", "/console/", "/console/topics/a%2Fb/config", "/console/messages/x/0/7"):
        answer = httpx2.get(gateway.url + path)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "'self'" in answer.headers["content-security-policy"]


def test_root_leads_to_the_console(gateway: GatewayServer) -> None:
    answer = httpx2.get(gateway.url + "/")
    assert (answer.status_code, answer.headers["location"]) == (307, "/console/")


def test_file_is_kept_until_it_changes(gateway: GatewayServer) -> None:
    first = httpx2.get(f"{gateway.url}/console/static/app.js")
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"
    assert first.headers["cache-control"] == "no-cache"

    again = httpx2.get(
        f"{gateway.url}/console/static/app.js", headers={"If-None-Match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/console/static/../assets.py",
        "/console/static/%2e%2e/assets.py",
        "/console/static//etc/passwd",
        "/console/static/no-such.js",
        "/console/api/no-such",
    ],
)
def test_what_is_no_file_of_the_console_is_404_in_the_one_shape(gateway: GatewayServer, path: str) -> None:
    # Most clients put such paths in order before they send them; this one does not.
    with closing(HTTPConnection(gateway.url.removeprefix("http://"), timeout=10)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == 404
        assert json.load(answer)["error_code"] == 404


def test_nothing_is_inline_and_nothing_comes_from_elsewhere() -> None:
    page = assets()["index.html"].body.decode()
    assert "<style" not in page
    assert " style=" not in page
    assert "onclick" not in page
    assert page.count("<script") == page.count('<script type="module" src="/console/static/')
    for name, asset in assets().items():
        text = asset.body.decode().replace("http://www.w3.org/", "")
        assert "http://" not in text, name
        assert "https://" not in text, name
        assert "innerHTML" not in text, name
        assert "eval(" not in text, name


def test_every_file_says_what_it_is() -> None:
    for name, asset in assets().items():
        if name.endswith((".js", ".css")):
            assert asset.body.lstrip().startswith(b"/*"), name
