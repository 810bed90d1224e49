"""Examples as real processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SECONDS_MAX = 100


def start_example(name: str, *arguments: str, warnings: str = "error") -> "subprocess.Popen[str]":
    """Start one as its page says, every warning an error unless told otherwise."""
    return subprocess.Popen(
        [sys.executable, "-W", warnings, str(EXAMPLES / f"{name}.py"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
    )


def run_example(name: str, *arguments: str, seconds_max: float = SECONDS_MAX) -> list[str]:
    """The lines that one prints, when all went well and nothing was complained about."""
    process = start_example(name, *arguments)
    try:
        output, complaints = process.communicate(timeout=seconds_max)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, complaints) == (0, ""), output + complaints
    return output.splitlines()


def interrupt_example(process: "subprocess.Popen[str]", first_lines: int) -> tuple[int, list[str], str]:
    """Press Ctrl-C when it has printed so many lines: its exit code, output and complaints."""
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline().rstrip("\n") for _ in range(first_lines)]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: its children hear it, too
        rest, complaints = process.communicate(timeout=SECONDS_MAX)
    finally:
        process.kill()
        process.wait()
    return process.returncode, [*lines, *rest.splitlines()], complaints
