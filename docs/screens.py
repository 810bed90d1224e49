"""Runs every command that docs/cli.md shows, and writes down what it printed.

A screen is a block of ``console``: lines that begin with ``$`` are run by bash, one after the other, in an
empty directory beside a broker of their own; what stood below them is replaced. What differs from run to run
and means nothing (ports, ids) is made to look the same. Whoever changes what is printed runs this again.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAGE = Path(__file__).with_name("cli.md")
PROMPT = "$ "
SECONDS_MAX = 60

_SCREEN = re.compile(r"```console\n(.*?)```", re.DOTALL)
_READY = "penstock ready on "
_FIRST_MS = 1_769_846_400_000
"""2026-01-31 08:00 UTC."""


def commands(page: str) -> list[str]:
    """Every command that the page shows, in order."""
    lines = (line for block in _SCREEN.findall(page) for line in block.splitlines())
    return [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]


def rendered(page: str, directory: Path, address: str) -> str:
    """The page with new screens."""
    return _SCREEN.sub(lambda match: _screen(match[1], directory, address), page)


def _screen(block: str, directory: Path, address: str) -> str:
    lines: list[str] = []
    for line in block.splitlines():
        if line.startswith(PROMPT):
            lines += [line, *_run(line.removeprefix(PROMPT), directory, address)]
    return "\n".join(["```console", *lines, "```"])


def _run(command: str, directory: Path, address: str) -> list[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PENSTOCK_", "JAVA_"))
    }
    environment["PENSTOCK_BOOTSTRAP_SERVER"] = address
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    return [_settled(line, address).rstrip() for line in done.stdout.splitlines()]


def _settled(line: str, address: str) -> str:
    # As long as the one it stands for, so that tables keep their shape.
    line = line.replace(address, "127.0.0.1:19092")
    line = re.sub(r"(id|cluster) [\w-]{22}\b", r"\1 Vf0iM9kKQZC7n2cYbXo0Ag", line)
    return re.sub(r"held by process \d+", "held by process 4711", line)


@contextmanager
def broker(directory: Path) -> Iterator[str]:
    """A broker on a free port; its address."""
    words = [
        "serve",
        "--no-gateway",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        "data",
        "--set",
        "log.retention.ms=-1",
    ]
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("penstock")), *words],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip().removeprefix(_READY)
    finally:
        process.terminate()
        process.communicate(timeout=SECONDS_MAX)


def write_orders(path: Path) -> None:
    """Five hundred orders of half an hour, by customers of whom some order more than others."""
    customers = ["alice", "bob", "carol", "alice", "dave", "alice", "bob"]
    with path.open("w") as file:
        for number in range(500):
            order = {
                "key": customers[number % len(customers)],
                "value": {"order": number, "item": f"valve-{number % 9}", "quantity": number * 7 % 12 + 1},
                "timestamp": _FIRST_MS + number * 3_600,
            }
            file.write(json.dumps(order) + "\n")


def main() -> None:
    """Write the page anew."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        write_orders(directory / "orders.jsonl")
        with broker(directory) as address:
            PAGE.write_text(rendered(PAGE.read_text(), directory, address))


if __name__ == "__main__":
    main()
