"""Under which names browsers may know a gateway.

A page of somebody else's can have its own name resolve to our address (DNS rebinding) and would then be of
our origin as far as the browser knows. But the browser still sends that name. Addresses are always allowed,
since no such page has one; names only if they are known to be ours.
"""

import ipaddress
import platform

from penstock.gateway.errors import GatewayError
from penstock.gateway.settings import GatewaySettings, is_loopback

ANY = "*"


class HostCheck:
    """Refuses requests that were sent to a name which is not ours."""

    def __init__(self, settings: GatewaySettings) -> None:
        own = {"localhost"} if is_loopback(settings.host) else {"localhost", platform.node()}
        self._names = {name.lower() for name in own | {settings.host, *settings.allowed_hosts}}

    def check(self, host: str) -> None:
        """Refuse with 421 unless the Host header names us."""
        name = _without_port(host).lower().rstrip(".")
        if ANY in self._names or name in self._names or _is_address(name):
            return
        raise GatewayError(
            421,
            f"This gateway is not known as {name[:100]!r}; start it with --allowed-host if it is to be.",
        )


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
