"""A program for tests: brokers that have nothing to do with each other, under one supervisor.

``python node_process_unit.py unit|loose STOP_SECONDS DIRECTORY [NAME:WORD,WORD...]...``
"""

import os
import sys
from pathlib import Path

from penstock.cli.failure import report
from penstock.cli.nodes import processes
from penstock.cli.nodes.processes import Node, Supervision, run_nodes
from penstock.model.errors import PenstockError


def main() -> int:
    kind, stop_seconds, directory, *texts = sys.argv[1:]
    processes.STOP_SECONDS_MAX = float(stop_seconds)
    return run_nodes(
        Supervision(
            stages=[[_node(Path(directory), text)] for text in texts],
            when_ready=lambda nodes: print(*(f"{node.name}={node.pid}" for node in nodes), flush=True),
            is_one_unit=kind == "unit",
            environment=os.environ,
        )
    )


def _node(parent: Path, text: str) -> Node:
    name, _, words = text.partition(":")
    own = ("--data-dir", str(parent / name), "--listen", "127.0.0.1:0")
    return Node(name=name, words=(*own, *filter(None, words.split(","))))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PenstockError as error:
        sys.exit(report(error))
