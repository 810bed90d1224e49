"""Settings of a gateway that make no sense are refused."""

from typing import Any

import pytest

from penstock.gateway.settings import GatewaySettings, is_loopback
from penstock.model.errors import UsageError


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"host": "0.0.0.0"}, "0.0.0.0, which others can reach, needs a token"),
        ({"host": "gateway.example"}, "needs a token"),
        ({"token": "short"}, "has 5 characters"),
        ({"port": 65_536}, "port=65536"),
        ({"streams_max": 0}, "streams_max=0"),
        ({"allowed_hosts": ("*",)}, "needs a token"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        GatewaySettings(**settings)


@pytest.mark.parametrize(
    ("host", "is_so"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)],
)
def test_loopback_addresses_are_known(host: str, is_so: bool) -> None:
    assert is_loopback(host) is is_so
