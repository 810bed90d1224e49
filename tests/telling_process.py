"""A program that tells what it does, one JSON event a line, under a test's control.

It is told everything in one JSON argument and ends in good order when its standard input does, so that it
never outlives the test. Everything is done by process id.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CLOSE_SECONDS = 20.0


def python_command(program: Path) -> list[str]:
    """How a program of the tests is run: by this interpreter, with clients that warn when imported."""
    return [sys.executable, "-W", "ignore", str(program)]


class TellingProcess:
    """One such program; its events are read as they come, and are all there when it has ended."""

    def __init__(
        self,
        command: Sequence[str],
        orders: Mapping[str, Any],
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.events: list[dict[str, Any]] = []
        self.stderr: list[str] = []
        self._process = subprocess.Popen(
            [*command, json.dumps(orders)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
            text=True,
        )
        self._readers = [
            threading.Thread(target=self._read_events, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    # Ordering it about.

    def kill(self) -> None:
        """SIGKILL; what it said before is all read."""
        self._process.kill()
        self._finish()

    def leave(self) -> None:
        """Let it end in good order."""
        self.ask_to_leave()
        self.wait_left()

    def ask_to_leave(self) -> None:
        """Without waiting for it."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def wait_left(self, *, seconds: float = CLOSE_SECONDS) -> None:
        """Until it has ended in good order."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._finish()
        assert self.named("closed"), f"did not end in good order: {self.events[-3:]}\n{self.error_text()}"

    def freeze(self) -> None:
        """SIGSTOP: it is taken for dead, and is not."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT: and here it is again."""
        self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Whatever state it is in, leave no process behind."""
        if self.is_alive:
            self._process.kill()
        self._finish()

    def _finish(self) -> None:
        self._process.wait()
        for reader in self._readers:
            reader.join(5)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()

    # Looking at it.

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def named(self, name: str) -> list[dict[str, Any]]:
        """Its events of one kind, in order."""
        return [event for event in list(self.events) if event["event"] == name]

    def error_text(self) -> str:
        """The end of what it wrote to standard error."""
        return "".join(self.stderr)[-3000:]

    def _read_events(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with suppress(json.JSONDecodeError):  # A killed process may leave half a line.
                self.events.append(json.loads(line))

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        self.stderr.extend(self._process.stderr)
