"""What a gateway is told: where the brokers are, where it listens, who gets in, and its bounds."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.model.errors import UsageError

DEFAULT_PORT = 8080
PORT_MAX = 65_535
TOKEN_LENGTH_MIN = 16
"""Shorter ones can be found by trying."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """Settings of one gateway; those that make no sense are refused when they are made."""

    bootstrap_servers: str = "127.0.0.1:9092"
    """Some brokers of the cluster, separated by commas."""

    host: str = "127.0.0.1"
    """Where it listens."""

    port: int = DEFAULT_PORT
    """0 takes a free one."""

    token: str | None = None
    """What whoever asks must know. Without one, only this machine itself is answered."""

    allowed_hosts: tuple[str, ...] = ()
    """More names under which browsers may know this gateway, beside ``host`` and those of this machine; ``*``
    for any."""

    kafka: Mapping[str, Any] = field(default_factory=dict)
    """More settings of librdkafka by their own names, such as ``sasl.username``."""

    body_bytes_max: int = 4 * 1024 * 1024
    """The largest request: a record of a mebibyte in base64, and more small ones."""

    requests_max: int = 64
    """How many requests are worked on at once; further ones are told to come back."""

    streams_max: int = 32
    """How many streams of records may be open at once."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= PORT_MAX:
            raise UsageError(f"port={self.port} must be from 0 to {PORT_MAX}.")
        if self.token is not None and len(self.token) < TOKEN_LENGTH_MIN:
            raise UsageError(
                f"The token has {len(self.token)} characters; one that cannot be guessed has "
                f"{TOKEN_LENGTH_MIN} or more."
            )
        if self.token is None and not is_loopback(self.host):
            raise UsageError(f"A gateway on {self.host}, which others can reach, needs a token.")
        if self.token is None and "*" in self.allowed_hosts:
            raise UsageError("A gateway that is known by any name ('*') needs a token.")
        for name in ("body_bytes_max", "requests_max", "streams_max"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}={getattr(self, name)} must be at least 1.")


def is_loopback(host: str) -> bool:
    """Whether only this machine itself can reach what listens on ``host``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
