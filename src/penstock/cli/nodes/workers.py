"""``penstock serve --workers``: several brokers on one machine, as one unit.

A broker is one process and uses little more than one core. Workers use more of them: each is a broker of its
own, with its own number, port and directory, in the rack of this machine, so that no two of them hold copies
of the same partition as long as there are other machines. When one of them fails, all end, and whoever
started the unit may start it again.
"""

import os
import platform
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from penstock.cli.nodes.gateway_keeper import GatewayKeeper, print_console, print_console_json
from penstock.cli.nodes.plan import PlannedNode, numbered_directories, start_order
from penstock.cli.nodes.ports import consecutive_ports, free_ports, remember_ports
from penstock.cli.nodes.processes import READY_PREFIX, RunningNode, Supervision, TellReady, run_nodes
from penstock.cli.nodes.ready_line import print_nodes_json
from penstock.config.broker_config import BrokerConfig
from penstock.config.listeners import Listener, parse_listener
from penstock.config.metrics_keys import WORDS
from penstock.config.settings import ConfigSource
from penstock.wire_client.connection import Address

NOUN = "worker"
_JOIN = "controller.quorum.bootstrap.servers"


def serve_workers(
    words: Sequence[str], config: BrokerConfig, *, count: int, gateway: str | None, as_json: bool
) -> int:
    """Run ``count`` brokers with the same ``words``, but for what must differ; the exit code.

    ``gateway`` is where one gateway for all of them listens; None for none. ``as_json`` is about what the
    unit says: each of its brokers says to us in text when it is ready.
    """
    own_words = [word for word in words if word != "--json"]
    with GatewayKeeper(gateway, tell=print_console_json if as_json else print_console) as keeper:
        tell_ready: TellReady = partial(_tell_ready, keeper)
        if as_json:
            tell_ready = partial(_tell_ready_json, keeper, Path(config.data_directory).absolute())
        return _serve(own_words, config, tell_ready, count=count)


def _serve(words: Sequence[str], config: BrokerConfig, tell_ready: TellReady, *, count: int) -> int:
    parent = Path(config.data_directory)
    directories = numbered_directories(parent, NOUN, count)
    listener = config.listeners[0]
    if listener.port:
        ports = consecutive_ports(listener.port, count)
        return run_nodes(_supervision(words, config, listener, directories, ports, tell_ready))
    with free_ports(parent, listener.host, count) as ports:
        remember_ports(parent, ports)
        return run_nodes(_supervision(words, config, listener, directories, ports, tell_ready))


def _supervision(
    words: Sequence[str],
    config: BrokerConfig,
    listener: Listener,
    directories: Sequence[Path],
    ports: Sequence[int],
    tell_ready: TellReady,
) -> Supervision:
    nodes = [
        PlannedNode(
            name=f"{NOUN}-{index + 1}",
            directory=directory,
            host=listener.host,
            port=port,
            words=(*words, *_own_words(config, index)),
        )
        for index, (directory, port) in enumerate(zip(directories, ports, strict=True))
    ]
    return Supervision(
        stages=start_order(nodes, join=_joined(config)),
        when_ready=tell_ready,
        is_one_unit=True,
        environment=os.environ,
    )


def _own_words(config: BrokerConfig, index: int) -> tuple[str, ...]:
    """What one worker has to itself; later words win over earlier ones."""
    words = ["--workers", "1", "--no-gateway"]
    if not config.string("broker.rack"):
        words += ["--set", f"broker.rack={platform.node()}"]
    for advertised in config.advertised_listeners:
        port = consecutive_ports(advertised.port, index + 1)[index]
        words += ["--set", f"advertised.listeners={Address(advertised.host, port)}"]
    words += _own_metrics(config, index)
    if config.source("node.id") is not ConfigSource.DEFAULT:
        words += ["--node-id", str(config.integer("node.id") + index)]
    return tuple(words)


def _own_metrics(config: BrokerConfig, index: int) -> list[str]:
    """A port of its own for each, where one was named."""
    named = config.string("metrics.listener")
    if named in WORDS or not index:
        return []
    first = parse_listener(named)
    port = consecutive_ports(first.port, index + 1)[index] if first.port else 0
    return ["--set", f"metrics.listener={Address(first.host, port)}"]


def _joined(config: BrokerConfig) -> Sequence[str]:
    """The addresses of another cluster that this unit was told to join."""
    return config.strings(_JOIN) if _JOIN in config.keys else ()


def _tell_ready(keeper: GatewayKeeper, nodes: Sequence[RunningNode]) -> None:
    addresses = ",".join(node.address for node in nodes)
    print(f"{READY_PREFIX}{addresses}", flush=True)
    keeper.start(addresses)


def _tell_ready_json(keeper: GatewayKeeper, parent: Path, nodes: Sequence[RunningNode]) -> None:
    by_name = sorted(nodes, key=lambda node: int(node.name.removeprefix(f"{NOUN}-")))
    print_nodes_json(by_name, {node.name: parent / node.name for node in nodes})
    keeper.start(",".join(node.address for node in nodes))
