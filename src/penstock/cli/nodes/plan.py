"""Which broker of a local cluster starts when, and whom it joins.

Brokers whose directories belong to a cluster already start at once: none of them might be ready before
others are there to vote. Without such a one the first founds the cluster. New ones join one after another, so
that the cluster numbers them in their order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.cli.failure import CommandFailed
from penstock.cli.nodes.processes import Node, Stages
from penstock.wire_client.connection import Address

META_PROPERTIES = "meta.properties"
"""What every directory of a broker has, once the broker belongs to a cluster."""

_LOOPBACK = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}
"""For listeners on every interface: the one that is surely there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNode:
    """A broker: its name, directory, address, and the words of its own."""

    name: str
    directory: Path
    host: str
    port: int
    words: tuple[str, ...] = ()
    log_file: Path | None = None

    @property
    def is_known(self) -> bool:
        """Whether its directory belongs to a cluster."""
        return (self.directory / META_PROPERTIES).exists()

    @property
    def listener(self) -> Address:
        """Where it listens."""
        return Address(self.host, self.port)

    @property
    def address(self) -> Address:
        """Where others on this machine find it."""
        return Address(_LOOPBACK.get(self.host, self.host), self.port)


def numbered_directories(parent: Path, noun: str, count: int) -> list[Path]:
    """``parent/noun-1`` and so on; fails when there are more than ``count``: the others would be left out."""
    if (parent / META_PROPERTIES).exists():
        raise CommandFailed(
            f"{parent} holds the data of a single broker.",
            hint=f"Serve it with `penstock serve --data-dir {parent}`, or choose another directory.",
        )
    present = present_count(parent, noun)
    if present > count:
        raise CommandFailed(
            f"{parent} holds the data of {present} brokers, not of {count}.",
            hint=f"Start all {present}, and take one out with `penstock broker decommission`.",
        )
    return [parent / f"{noun}-{number + 1}" for number in range(count)]


def present_count(parent: Path, noun: str) -> int:
    """The number of the last directory that belongs to a cluster; 0 when there is none."""
    numbers = (
        path.parent.name.removeprefix(f"{noun}-") for path in parent.glob(f"{noun}-*/{META_PROPERTIES}")
    )
    return max((int(number) for number in numbers if number.isdecimal()), default=0)


def start_order(nodes: Sequence[PlannedNode], *, join: Sequence[str] = ()) -> Stages:
    """The stages; ``join`` are addresses of a cluster that exists elsewhere, if there is one."""
    known = [node for node in nodes if node.is_known]
    new = [node for node in nodes if not node.is_known]
    stages = [[_node(node, [each for each in known if each is not node], join) for node in known]]
    started = list(known)
    for node in new:
        stages.append([_node(node, started, join)])
        started.append(node)
    return [stage for stage in stages if stage]


def _node(node: PlannedNode, others: Sequence[PlannedNode], join: Sequence[str]) -> Node:
    addresses = [*(str(other.address) for other in others), *join]
    joining = ("--join", ",".join(addresses)) if addresses else ()
    return Node(
        name=node.name,
        words=(
            *node.words,
            *("--data-dir", str(node.directory), "--listen", str(node.listener)),
            *joining,
        ),
        log_file=node.log_file,
    )
