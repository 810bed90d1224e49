"""What programs are told of brokers of this machine that have become ready together."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock.cli.nodes.processes import RunningNode
from penstock.cli.output import tell_json_line


def print_nodes_json(nodes: Sequence[RunningNode], directories: Mapping[str, Path]) -> None:
    """One line with all of them, in this order."""
    tell_json_line(
        {
            "bootstrap_servers": ",".join(node.address for node in nodes),
            "nodes": [
                {
                    "name": node.name,
                    "address": node.address,
                    "pid": node.pid,
                    "data_dir": str(directories[node.name]),
                }
                for node in nodes
            ],
        }
    )
