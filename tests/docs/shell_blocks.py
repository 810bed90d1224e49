"""Runs the commands of a page, line by line, as somebody would who follows it."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.docs.code_blocks import ROOT, Block

SECONDS_MAX = 60
PROMPT = "$ "
READY = re.compile(r"^(?:penstock (?:cluster )?ready|gateway) on (\S+)")
MACHINE = re.compile(r"\b192\.0\.2\.\d+:\d+\b")
"""Addresses that are set aside for documentation stand for other machines."""

ONLY_CHECKED = re.compile(r"^(make|\.|source|pip|python3? -m (pip|venv)|\.venv/bin/\w+)\s")
"""Whole test runs and installations are not for us to repeat."""

VERDICTS = re.compile(r"^penstock doctor\b")
"""What they exit with is about the machine, and not about the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A line to type."""

    line: str
    is_to_fail: bool
    """Whether the page shows that it is refused."""


@dataclass(slots=True, kw_only=True)
class Shell:
    """A directory and a cluster, for all commands of a page."""

    directory: Path
    bootstrap: str
    registry: str = ""
    """Where the gateway of the block at hand is, if it started one."""
    machines: dict[str, str] = field(default_factory=dict)

    def environment(self, bootstrap: str) -> dict[str, str]:
        """The commands of this Python first, the sources of this tree, and the cluster of this page."""
        return {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "PENSTOCK_BOOTSTRAP_SERVER": bootstrap,
            **({"PENSTOCK_REGISTRY_URL": self.registry} if self.registry else {}),
        }

    def run(self, block: Block) -> None:
        """Run a block; what serves goes on in the background until its end."""
        with ExitStack() as stack:
            bootstrap = self.bootstrap
            for number, command in enumerate(commands_of(block)):
                words = shlex.split(command.line, comments=True)
                if is_only_checked(command):
                    check(words)
                elif words[:2] == ["penstock", "serve"] or words[:3] == ["penstock", "cluster", "up"]:
                    place = self.directory / f"server-{block.line}-{number}"
                    served = stack.enter_context(self._serving(words, place, ""))
                    bootstrap = served if bootstrap == self.bootstrap else bootstrap
                elif words[:2] == ["penstock", "gateway"]:
                    place = self.directory / f"gateway-{block.line}-{number}"
                    self.registry = stack.enter_context(self._serving(words, place, bootstrap))
                else:
                    self._run(block, command, bootstrap)

    def _run(self, block: Block, command: Command, bootstrap: str) -> None:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", self._placed(command.line)],
            cwd=self.directory,
            env=self.environment(bootstrap),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        is_good = bool(VERDICTS.match(command.line)) or (done.returncode != 0) == command.is_to_fail
        assert is_good, f"{block}: {command.line}: exit code {done.returncode}\n{done.stdout}"

    @contextmanager
    def _serving(self, words: list[str], place: Path, bootstrap: str) -> Iterator[str]:
        """A server in a directory of its own, as on a machine of its own; where it listens."""
        place.mkdir()
        if words[1] in ("serve", "gateway") and "--listen" not in words:
            words = [*words, "--listen", "127.0.0.1:0"]
        log = place / "log"
        with log.open("w") as complaints:
            process = subprocess.Popen(
                [sys.executable, "-m", *map(self._placed, words)],
                cwd=place,
                env=self.environment(bootstrap),
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
            )
            try:
                assert process.stdout is not None
                ready = READY.match(process.stdout.readline())
                assert ready is not None, f"{shlex.join(words)}: {log.read_text()}"
                yield ready[1]
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=SECONDS_MAX)
                assert process.returncode == 0, f"{shlex.join(words)}: {log.read_text()}"
            finally:
                process.kill()
                process.communicate()

    def _placed(self, line: str) -> str:
        """With ports of this machine for the addresses of others."""
        return MACHINE.sub(lambda match: self.machines.setdefault(match[0], free_address()), line)


def commands_of(block: Block) -> list[Command]:
    """What is to be typed: all lines of ``sh``, and those of ``console`` that have a prompt."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "sh":
        return [Command(line=line, is_to_fail=False) for line in lines if line and not line.startswith("#")]
    found: list[Command] = []
    for number, line in enumerate(lines):
        if line.startswith(PROMPT):
            shown = lines[number + 1 :]
            end = next((place for place, each in enumerate(shown) if each.startswith(PROMPT)), len(shown))
            is_to_fail = any(each.startswith("Error: ") for each in shown[:end])
            found.append(Command(line=line.removeprefix(PROMPT), is_to_fail=is_to_fail))
    return found


def is_only_checked(command: Command) -> bool:
    """Whether a command must be there, but is not run."""
    return ONLY_CHECKED.match(command.line) is not None


def check(words: list[str]) -> None:
    """Targets and paths that are named exist."""
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text()
        assert re.search(rf"^{re.escape(words[1])}:", makefile, re.MULTILINE), f"There is no make {words[1]}."
    for word in words[1:]:
        is_path = "/" in word and not word.startswith(".venv/")
        assert not is_path or (ROOT / word).exists(), f"There is no {word}."


def free_address() -> str:
    """Somewhere to listen."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{found.getsockname()[1]}"
