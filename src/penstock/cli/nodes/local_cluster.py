"""A cluster on this machine, for trying things out: a directory, a few ports, one process that minds them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.cli.cluster.commands import NODES_DEFAULT
from penstock.cli.nodes.gateway_keeper import GatewayKeeper, print_console, print_console_json
from penstock.cli.nodes.plan import PlannedNode, numbered_directories, present_count, start_order
from penstock.cli.nodes.ports import consecutive_ports, free_ports, remember_ports
from penstock.cli.nodes.processes import RunningNode, Supervision, run_nodes
from penstock.cli.nodes.ready_line import print_nodes_json
from penstock.config.settings import ConfigSource
from penstock.config.sources import load_broker_config
from penstock.model.errors import UsageError

NOUN = "node"
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCluster:
    """What is wanted; ``count`` and ``port`` are remembered where they are left out."""

    directory: Path
    count: int | None
    port: int | None
    settings: Mapping[str, str]
    has_log_files: bool
    gateway: str | None = None
    """Where one gateway for the cluster listens; None for none."""


def run_local_cluster(wanted: LocalCluster, *, as_json: bool) -> int:
    """Run it until told to stop; the exit code."""
    _check_settings(wanted.settings)
    count = wanted.count or present_count(wanted.directory, NOUN) or NODES_DEFAULT
    directories = numbered_directories(wanted.directory, NOUN, count)
    tell_console = print_console_json if as_json else print_console
    with GatewayKeeper(wanted.gateway, tell=tell_console) as keeper:
        if wanted.port is not None:
            ports = consecutive_ports(wanted.port, count)
            remember_ports(wanted.directory, ports)
            return run_nodes(_supervision(wanted, directories, ports, keeper, as_json=as_json))
        with free_ports(wanted.directory, HOST, count) as ports:
            remember_ports(wanted.directory, ports)
            return run_nodes(_supervision(wanted, directories, ports, keeper, as_json=as_json))


def _check_settings(settings: Mapping[str, str]) -> None:
    """A mistake is answered at once, not by each broker."""
    config = load_broker_config(environment=os.environ, flags=settings)
    if config.source("node.id") is not ConfigSource.DEFAULT:
        raise UsageError("The brokers of a cluster cannot all have the same node.id; leave it out.")


def _supervision(
    wanted: LocalCluster,
    directories: Sequence[Path],
    ports: Sequence[int],
    keeper: GatewayKeeper,
    *,
    as_json: bool,
) -> Supervision:
    words = tuple(word for key, value in wanted.settings.items() for word in ("--set", f"{key}={value}"))
    nodes = [
        PlannedNode(
            name=directory.name,
            directory=directory,
            host=HOST,
            port=port,
            words=("--no-gateway", *words),
            log_file=directory.with_suffix(".log") if wanted.has_log_files else None,
        )
        for directory, port in zip(directories, ports, strict=True)
    ]

    def tell_ready(running: Sequence[RunningNode]) -> None:
        keeper.start(_print_ready(nodes, running, as_json=as_json))

    return Supervision(
        stages=start_order(nodes), when_ready=tell_ready, is_one_unit=False, environment=os.environ
    )


def _print_ready(planned: Sequence[PlannedNode], running: Sequence[RunningNode], *, as_json: bool) -> str:
    """In the order of their names, whichever started first; where they are."""
    by_name = {node.name: node for node in running}
    ordered = [by_name[node.name] for node in planned]
    bootstrap = ",".join(node.address for node in ordered)
    if not as_json:
        print(f"penstock cluster ready on {bootstrap}", flush=True)
        return bootstrap
    print_nodes_json(ordered, {node.name: node.directory for node in planned})
    return bootstrap
