"""Hosts of their own on one machine: network namespaces on a bridge, whose links can be cut in one direction.

A cut is a route into nowhere: nothing that one host sends to another leaves it, and nobody is told.
"""

import contextlib
import itertools
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache

from tests.broker_process import Server

_NETWORKS = itertools.count()


@cache
def can_make_namespaces() -> bool:
    """Whether this machine lets us."""
    if os.geteuid() or shutil.which("ip") is None or os.environ.get("PENSTOCK_TEST_PROXIES"):
        return False
    name = f"penstock-probe-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode:
        return False
    _run("netns", "del", name)
    return True


class HostNetwork:
    """Some hosts that reach each other, and us, until somebody cuts them off."""

    def __init__(self, count: int) -> None:
        # Interface names have at most 15 characters; tests run side by side in several processes.
        number = next(_NETWORKS)
        self._bridge = f"pk{os.getpid()}b{number}"[-15:]
        self._subnet = f"10.213.{(os.getpid() * 7 + number) % 250 + 1}"
        self._names = [f"penstock-{os.getpid()}-{number}-{host}" for host in range(1, count + 1)]
        self._cuts: set[tuple[int, int]] = set()

    def address(self, host: int) -> str:
        """Of a host, numbered from 1."""
        return f"{self._subnet}.{host}"

    def settle(self, server: Server, host: int) -> None:
        """Have a broker that has not started yet run on a host."""
        server.host = self.address(host)
        server.command_prefix = ["ip", "netns", "exec", self._names[host - 1]]

    def cut(self, sender: int, receiver: int) -> None:
        """Let nothing pass in this direction."""
        if (sender, receiver) not in self._cuts:
            self._cuts.add((sender, receiver))
            self._route(sender, "add", receiver)

    def isolate(self, host: int, others: Iterable[int]) -> None:
        """Cut a host off from others, in both directions; not from us."""
        for other in others:
            if other != host:
                self.cut(host, other)
                self.cut(other, host)

    def heal(self) -> None:
        """Let everything pass again."""
        for sender, receiver in sorted(self._cuts):
            self._route(sender, "del", receiver)
        self._cuts.clear()

    def _route(self, sender: int, verb: str, receiver: int) -> None:
        _run("-n", self._names[sender - 1], "route", verb, "blackhole", f"{self.address(receiver)}/32")

    def _make(self) -> None:
        _run("link", "add", self._bridge, "type", "bridge")
        _run("addr", "add", f"{self._subnet}.254/24", "dev", self._bridge)
        _run("link", "set", self._bridge, "up")
        for host, name in enumerate(self._names, 1):
            _run("netns", "add", name)
            ours = self._link(host)
            _run("link", "add", ours, "type", "veth", "peer", "name", "eth0", "netns", name)
            _run("link", "set", ours, "master", self._bridge, "up")
            _run("-n", name, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
            _run("-n", name, "link", "set", "eth0", "up")
            _run("-n", name, "link", "set", "lo", "up")

    def _link(self, host: int) -> str:
        """Our end of the cable."""
        return f"{self._bridge[:12]}v{host}"

    def _remove(self) -> None:
        for host, name in enumerate(self._names, 1):
            subprocess.run(["ip", "link", "del", self._link(host)], capture_output=True, check=False)
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", self._bridge], capture_output=True, check=False)


@contextlib.contextmanager
def host_network(count: int) -> Iterator[HostNetwork]:
    """Hosts that are gone afterwards."""
    network = HostNetwork(count)
    try:
        network._make()
        yield network
    finally:
        network._remove()


def _run(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
