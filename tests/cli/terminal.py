"""A terminal for tests: runs commands against one broker and keeps what they left behind."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from penstock.cli.main import main

COMMAND_SECONDS_MAX = 60.0


class Answer(NamedTuple):
    """What a finished command left behind."""

    code: object
    output: str
    errors: str

    def json(self) -> Any:
        return json.loads(self.output)


class Terminal:
    """Runs commands against one broker."""

    def __init__(
        self, bootstrap: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self.environment = {**os.environ, "PENSTOCK_BOOTSTRAP_SERVER": bootstrap}
        monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVER", bootstrap)

    def run(self, *words: str, stdin: str = "") -> Answer:
        """Run a command in this process."""
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as ended:
            main(words)
        captured = self._capsys.readouterr()
        return Answer(ended.value.code or 0, captured.out, captured.err)

    def must(self, *words: str, stdin: str = "") -> Answer:
        """Run a command that succeeds."""
        answer = self.run(*words, stdin=stdin)
        assert answer.code == 0, answer.errors
        return answer

    def spawn(self, *words: str) -> "subprocess.Popen[bytes]":
        """Start a command as a process of its own, which an interrupt reaches even where tests run behind."""
        return subprocess.Popen(
            [str(Path(sys.executable).with_name("penstock")), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            preexec_fn=_heed_interrupts,
        )


def _heed_interrupts() -> None:
    """What a shell runs in the background ignores interrupts, and so do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
