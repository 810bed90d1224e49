"""Whether a broker could listen, and if not, who does."""

import errno
import socket

from penstock.cli.doctor.finding import Finding, ok, problem, warning
from penstock.config.listeners import Listener
from penstock.wire_client.connection import Address, Connection
from penstock.wire_client.errors import WireClientError

_CHECK = "port"
_ANSWER_SECONDS_MAX = 3.0
_ELSEWHERE = "Stop it, or let the broker listen elsewhere with --listen HOST:PORT."


def check_port(listener: Listener) -> Finding:
    """Try to listen there for a moment."""
    where = f"{listener.host or '*'}:{listener.port}"
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    with socket.socket(family) as probe:
        # As servers do, so that connections of a former one that are dying do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((listener.host, listener.port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return _taken(listener, where)
            reason = (error.strerror or str(error)).lower()
            return problem(_CHECK, f"Nobody can listen on {where}: {reason}.", _advice(error))
    return ok(_CHECK, f"{where} is free")


def _taken(listener: Listener, where: str) -> Finding:
    host = listener.host if listener.host not in ("", "0.0.0.0", "::") else "127.0.0.1"
    try:
        with Connection(Address(host, listener.port), answer_seconds_max=_ANSWER_SECONDS_MAX):
            return warning(
                _CHECK,
                f"{where} is taken: a broker that speaks Kafka's protocol answers there.",
                "Fine if it is yours; otherwise let this one listen elsewhere with --listen HOST:PORT.",
            )
    except WireClientError:
        return problem(
            _CHECK, f"{where} is taken by a program that does not speak Kafka's protocol.", _ELSEWHERE
        )


def _advice(error: OSError) -> str:
    if error.errno == errno.EACCES:
        return "Ports below 1024 are for the system: choose a higher one with --listen HOST:PORT."
    return "Choose an address of this machine with --listen HOST:PORT; see them with `ip address`."
