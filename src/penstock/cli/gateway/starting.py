"""Starting a gateway from the command line: settings from options, the token from where it is kept."""

import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.failure import CommandFailed
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from penstock.gateway.settings import GatewaySettings

TOKEN_VARIABLE = "PENSTOCK_GATEWAY_TOKEN"
INSTALL = "pip install 'penstock[gateway]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What was said on the command line."""

    bootstrap_servers: str
    host: str
    port: int
    token_file: Path | None
    allowed_hosts: tuple[str, ...] = ()


def is_installed() -> bool:
    """Whether what the gateway needs is there."""
    return all(find_spec(name) is not None for name in ("fastapi", "uvicorn"))


def require_installed() -> None:
    """Fail with what to install."""
    if not is_installed():
        raise CommandFailed("The gateway needs FastAPI and uvicorn.", hint=f"Install them: {INSTALL}")


def parse_listen(text: str) -> tuple[str, int]:
    """The host and port of ``--listen``."""
    host, separator, port = text.rpartition(":")
    if not separator or not host or not (port.isascii() and port.isdigit()):
        raise UsageError(f"--listen {text!r} is not of the form HOST:PORT.")
    return host.strip("[]"), int(port)


def free_listen(listen: str) -> str:
    """The same if nobody listens there, or else any free port of the same host."""
    host, port = parse_listen(listen)
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError:
            return f"{host}:0"
    return listen


def settings_of(chosen: Chosen) -> "GatewaySettings":
    """Settings of a gateway, with a token where one is needed."""
    from penstock.gateway.settings import GatewaySettings

    return GatewaySettings(
        bootstrap_servers=chosen.bootstrap_servers,
        host=chosen.host,
        port=chosen.port,
        token=_token(chosen),
        allowed_hosts=chosen.allowed_hosts,
    )


def run(settings: "GatewaySettings", *, on_up: Callable[[str], None], option: str) -> int:
    """Serve until told to stop; the exit code. ``option`` is where the address was, or could be, chosen."""
    from penstock.gateway.main import run_gateway
    from penstock.gateway.server import CannotListenError

    try:
        return run_gateway(settings, on_up=on_up)
    except CannotListenError as error:
        hint = f"Choose another address with {option} HOST:PORT; port 0 takes a free one."
        raise CommandFailed(str(error), hint=hint) from error


def _token(chosen: Chosen) -> str | None:
    """The token that was given; none on this machine alone; otherwise one that is made and kept."""
    from penstock.gateway.security.token_file import default_token_file, make_token, read_token
    from penstock.gateway.settings import is_loopback

    if chosen.token_file is not None and chosen.token_file.exists():
        return read_token(chosen.token_file)
    if chosen.token_file is None and (given := os.environ.get(TOKEN_VARIABLE)):
        return given
    if chosen.token_file is None and is_loopback(chosen.host):
        return None
    path = chosen.token_file or default_token_file()
    if path.exists():
        return read_token(path)
    token = make_token(path)
    print(f"The gateway's token, kept in {path}: {token}", file=sys.stderr)
    return token
