"""Talking to a cluster through librdkafka, with its failures turned into sentences.

librdkafka retries an unreachable address for ever and in silence. A person at a terminal wants to know at
once, so every command first knocks at the bootstrap servers.
"""

import socket
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.cli.failure import CommandFailed
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from confluent_kafka import KafkaError
    from confluent_kafka.admin import AdminClient

ANSWER_SECONDS_MAX = 15.0
"""How long a command waits for one answer of the cluster."""

START_ONE = "Start one with `penstock serve`, or name another with --bootstrap-server HOST:PORT."
"""The hint when nobody answers."""

PORT_MAX = 65_535

_KNOCK_SECONDS_MAX = 3.0

_HINTS: Mapping[str, str] = {
    "UNKNOWN_TOPIC_OR_PART": "See what there is with `penstock topic list`, or create it with "
    "`penstock topic create`.",
    "TOPIC_ALREADY_EXISTS": "Use --if-not-exists, or change it with `penstock topic alter`.",
    "INVALID_CONFIG": "See valid names and values with `penstock topic describe TOPIC --all-configs`.",
    "INVALID_REPLICATION_FACTOR": "A replication factor cannot exceed the number of brokers.",
    "INVALID_PARTITIONS": "A topic has at least one partition, and their number can only grow.",
    "TOPIC_EXCEPTION": "Topic names hold up to 249 ASCII letters, digits, '.', '_' and '-'.",
    "_AUTO_OFFSET_RESET": "See from where to where a topic goes with `penstock topic describe TOPIC`.",
    "_TIMED_OUT": "The broker took too long to answer; look at its log.",
    "_TRANSPORT": "The connection broke; look at the broker's log.",
}

Answer = TypeVar("Answer")


def require_reachable(bootstrap_server: str) -> None:
    """Fail at once unless some address of ``bootstrap_server`` accepts a connection."""
    problem = ""
    for address in bootstrap_addresses(bootstrap_server):
        try:
            socket.create_connection(address, timeout=_KNOCK_SECONDS_MAX).close()
        except OSError as error:
            problem = error.strerror or str(error)
        except UnicodeError:  # Raised before anybody is asked: no name of the network looks like this.
            problem = "there is no such name"
        else:
            return
    raise CommandFailed(f"No broker answers at {bootstrap_server}: {problem.lower()}.", hint=START_ONE)


def bootstrap_addresses(text: str) -> list[tuple[str, int]]:
    """The hosts and ports that ``--bootstrap-server`` names, in their order."""
    return [_address(part.strip()) for part in text.split(",")]


def _address(text: str) -> tuple[str, int]:
    host, separator, port = text.rpartition(":")
    if not separator or not host or not port.isdecimal() or not 0 < int(port) <= PORT_MAX:
        raise UsageError(f"--bootstrap-server {text!r} is not of the form HOST:PORT.")
    return host.strip("[]"), int(port)


def client_settings(bootstrap_server: str, **more: Any) -> dict[str, Any]:
    """librdkafka settings all commands share, ``more`` with underscores for dots; its own chatter is off."""
    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap_server,
        "client.id": "penstock-cli",
        "log_level": 0,
        "socket.nagle.disable": True,
    }
    return settings | {key.replace("_", "."): value for key, value in more.items()}


def connect_admin(bootstrap_server: str) -> "AdminClient":
    """An admin client on a cluster that is known to answer."""
    require_reachable(bootstrap_server)
    from confluent_kafka.admin import AdminClient

    return AdminClient(client_settings(bootstrap_server))


def ask(call: Callable[[], Answer], *, doing: str) -> Answer:
    """The result of a blocking librdkafka call, its exception turned into a sentence."""
    from confluent_kafka import KafkaException

    try:
        return call()
    except KafkaException as error:
        raise failure(error.args[0], doing=doing) from error
    except TimeoutError as error:
        raise _unanswered(doing) from error


def result_of(future: "Future[Any]", *, doing: str) -> Any:
    """The result of an admin call, its exception turned into a sentence."""
    return ask(lambda: future.result(ANSWER_SECONDS_MAX), doing=doing)


def succeeds(future: "Future[Any]", *, doing: str, excused: str) -> bool:
    """Wait for an admin call; False when it failed with the one error that is ``excused``."""
    from confluent_kafka import KafkaException

    try:
        future.result(ANSWER_SECONDS_MAX)
    except KafkaException as error:
        if error.args[0].name() != excused:
            raise failure(error.args[0], doing=doing) from error
        return False
    except TimeoutError as error:
        raise _unanswered(doing) from error
    return True


def failure(cause: "KafkaError", *, doing: str) -> CommandFailed:
    """What ``cause`` means to the person who asked for ``doing``."""
    text = str(cause.str()).rstrip(".")
    return CommandFailed(f"Cannot {doing}: {text} ({cause.name()}).", hint=_HINTS.get(str(cause.name()), ""))


def _unanswered(doing: str) -> CommandFailed:
    """We stop waiting before librdkafka does; whether it was done after all, nobody knows."""
    return CommandFailed(
        f"Cannot {doing}: no answer within {ANSWER_SECONDS_MAX:g} s.", hint=_HINTS["_TIMED_OUT"]
    )
