"""Addresses as Kafka writes them: ``PLAINTEXT://host:port``, separated by commas.

Only the PLAINTEXT protocol is served so far, and one listener. ``host:port`` alone is accepted too.
"""

from dataclasses import dataclass

from penstock.config.definition import ConfigError, ConfigValue, Validator

PORT_MAX = 65_535
LABEL_LENGTH_MAX = 63
"""Of each part of a host's name (RFC 1035)."""

PLAINTEXT = "PLAINTEXT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """One address, and the name by which clients and brokers tell listeners apart."""

    name: str
    #: Empty for every interface.
    host: str
    #: 0 for any free port.
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


def parse_listener(text: str) -> Listener:
    """One address; ``ConfigError`` says what is wrong with it."""
    protocol, separator, address = text.rpartition("://")
    name = protocol if separator else PLAINTEXT
    if name != PLAINTEXT:
        raise ConfigError(f"Listener {text} has protocol {name or 'none'}: only {PLAINTEXT} is served.")
    host, colon, port = address.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or int(port) > PORT_MAX:
        raise ConfigError(
            f"Listener {text} must end in a port from 0 to {PORT_MAX}, as in {name}://host:9092."
        )
    return Listener(name=name, host=_bare_host(host, text), port=int(port))


def _bare_host(host: str, text: str) -> str:
    if host.startswith("[") and host.endswith("]"):
        return host[1:-1]
    if ":" in host or "/" in host or host != host.strip() or not _may_be_name(host):
        raise ConfigError(f"Listener {text} has a malformed host {host}; an IPv6 address needs brackets.")
    return host


def _may_be_name(host: str) -> bool:
    """Whether the network could know it: what Python's own look-up refuses, it refuses with a bug's error."""
    labels = host.removesuffix(".").split(".")
    return not host or all(0 < len(label) <= LABEL_LENGTH_MAX for label in labels)


def parse_server(text: str) -> Listener:
    """The address of another broker, which must be one that can be connected to."""
    server = parse_listener(text)
    if not server.host or server.port == 0:
        raise ConfigError(f"Server {text} must have a host and a port, as in broker-1:9092.")
    return server


def _accepts_servers(value: ConfigValue) -> bool:
    if not isinstance(value, tuple):
        return False
    try:
        for text in value:
            parse_server(text)
    except ConfigError:
        return False
    return True


def _accepts(value: ConfigValue) -> bool:
    if not isinstance(value, tuple) or len(value) > 1:
        return False
    try:
        for text in value:
            parse_listener(text)
    except ConfigError:
        return False
    return True


LISTENER_LIST = Validator(f"one address like {PLAINTEXT}://127.0.0.1:9092", _accepts)

SERVER_LIST = Validator("a list of addresses like broker-1:9092", _accepts_servers)
