"""Ports of brokers that belong together: free ones at first, and the same ones ever after.

A cluster whose brokers all come back elsewhere could not find itself. So the ports that were taken are kept
in a small file beside the data.
"""

import json
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from penstock.cli.failure import CommandFailed
from penstock.model.errors import UsageError

PORTS_FILE = "ports.json"
_VERSION = 1
_PORT_MAX = 65_535


def consecutive_ports(first: int, count: int) -> list[int]:
    """``first`` and those after it."""
    if first + count - 1 > _PORT_MAX:
        raise UsageError(f"There are no {count} ports from {first} on: the last is {_PORT_MAX}.")
    return [first + index for index in range(count)]


@contextmanager
def free_ports(directory: Path, host: str, count: int) -> Iterator[list[int]]:
    """The ports that were remembered in ``directory``, and free ones where there are too few.

    Free ones are held within the block, so that nobody else is given one of them; a broker may take it.
    """
    remembered = read_ports(directory)[:count]
    with ExitStack() as held:
        yield remembered + [_hold(host, held) for _ in range(count - len(remembered))]


def read_ports(directory: Path) -> list[int]:
    """The remembered ports, in the order of the brokers; empty when there are none."""
    path = directory / PORTS_FILE
    try:
        content = json.loads(path.read_text())
        return [int(port) for port in content["ports"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CommandFailed(
            f"Cannot read {path}: {error}.", hint="Remove it to have free ports chosen anew."
        ) from error


def remember_ports(directory: Path, ports: Sequence[int]) -> None:
    """Keep the ports; a crash leaves either the old ones or the new ones."""
    path = directory / PORTS_FILE
    draft = path.with_suffix(".new")
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.write_text(json.dumps({"version": _VERSION, "ports": list(ports)}) + "\n")
        os.replace(draft, path)
    except OSError as error:
        raise CommandFailed(f"Cannot write {path}: {(error.strerror or str(error)).lower()}.") from error


def _hold(host: str, held: ExitStack) -> int:
    """A free port, bound but not listened on: a listener that reuses addresses, as brokers do, gets it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    holder = held.enter_context(socket.socket(family))
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        holder.bind((host, 0))
    except OSError as error:
        raise CommandFailed(f"Cannot listen on {host}: {(error.strerror or str(error)).lower()}.") from error
    return int(holder.getsockname()[1])
