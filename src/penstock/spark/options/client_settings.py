"""How to reach a cluster, as options say it; readers and writers share it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from penstock.spark.options.definition import OptionError
from penstock.spark.options.security_settings import security_settings
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address, Connection
from penstock.wire_client.security.security import PLAINTEXT, Security

_BOOTSTRAP = "kafka.bootstrap.servers"
_PORT_DEFAULT = 9092
_PORT_MAX = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """Where the brokers are, who asks, and how long to wait for them."""

    addresses: tuple[Address, ...]
    client_id: str
    request_timeout_ms: int
    connect_timeout_ms: int
    patience_ms: int
    """How long to wait for what passes by itself, such as a leader that moves."""
    backoff_ms: int
    backoff_max_ms: int
    security: Security = PLAINTEXT

    def connect(self) -> Cluster:
        """A new conversation with the cluster."""
        connection = partial(
            Connection,
            client_id=self.client_id,
            connect_seconds_max=self.connect_timeout_ms / 1000,
            answer_seconds_max=self.request_timeout_ms / 1000,
            security=self.security,
        )
        return Cluster.connect(self.addresses, connect=connection)


def client_settings(values: Mapping[str, Any]) -> ClientSettings:
    """The settings among parsed options."""
    if _BOOTSTRAP not in values:
        raise OptionError(
            f"Option {_BOOTSTRAP} is missing: name brokers as host:port, such as localhost:9092."
        )
    return ClientSettings(
        addresses=parse_addresses(values[_BOOTSTRAP]),
        client_id=values["kafka.client.id"],
        request_timeout_ms=values["kafka.request.timeout.ms"],
        connect_timeout_ms=values["kafka.socket.connection.setup.timeout.ms"],
        patience_ms=values["kafka.default.api.timeout.ms"],
        backoff_ms=values["kafka.retry.backoff.ms"],
        backoff_max_ms=values["kafka.retry.backoff.max.ms"],
        security=security_settings(values),
    )


def parse_addresses(text: str) -> tuple[Address, ...]:
    """``host:port`` with commas between them; ``[::1]:9092`` for addresses that have colons themselves."""
    addresses = tuple(_parse_address(part.strip()) for part in text.split(",") if part.strip())
    if not addresses:
        raise OptionError(f"Option {_BOOTSTRAP} is {text!r}: it names no broker.")
    return addresses


def _parse_address(text: str) -> Address:
    host, separator, port = text.rpartition(":")
    if not separator or (text.startswith("[") and text.endswith("]")):
        host, port = text, str(_PORT_DEFAULT)
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 0 < int(port) <= _PORT_MAX or "/" in host:
        raise OptionError(f"Option {_BOOTSTRAP} has {text!r}, which is no host:port such as localhost:9092.")
    return Address(host, int(port))
