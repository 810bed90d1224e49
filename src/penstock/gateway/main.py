"""A gateway as a process: up, told where, until it is told to stop."""

import logging
import sys
from collections.abc import Callable

from penstock.gateway.gateway import Gateway
from penstock.gateway.server import GatewayServer
from penstock.gateway.settings import GatewaySettings


def run_gateway(settings: GatewaySettings, *, on_up: Callable[[str], None]) -> int:
    """Serve until SIGINT or SIGTERM; ``on_up`` is told the URL once requests are answered."""
    server = GatewayServer(settings, on_up=on_up)
    _log_to_standard_error(server.gateway)
    server.run()
    return 0


def _log_to_standard_error(gateway: Gateway) -> None:
    """Warnings and worse; not what is said of a cluster that goes while the gateway goes, too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(lambda _: not gateway.closing.is_set())
    logging.getLogger().addHandler(handler)
