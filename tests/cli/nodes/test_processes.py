"""Brokers as children of one process: how they start, end together, and outlive nobody."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.broker_process import wait_until

pytestmark = pytest.mark.slow

END_SECONDS_MAX = 40.0
PROGRAM = Path(__file__).with_name("node_process_unit.py")


class Unit:
    """A supervisor, the process ids of its brokers by name, and what it has logged."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._log: list[str] = []
        assert process.stderr is not None
        self._reader = threading.Thread(target=self._log.extend, args=(process.stderr,), daemon=True)
        self._reader.start()
        assert process.stdout is not None
        line = process.stdout.readline().split()
        self.pids = {name: int(pid) for name, _, pid in (word.partition("=") for word in line)}

    def send(self, number: signal.Signals, *, to: str = "") -> None:
        os.kill(self.pids[to] if to else self._process.pid, number)

    def end(self) -> int:
        """The exit code of a supervisor that ends by itself."""
        code = self._process.wait(END_SECONDS_MAX)
        self._reader.join(END_SECONDS_MAX)
        return code

    @property
    def log(self) -> str:
        return "".join(self._log)

    def lives(self, name: str) -> bool:
        return _lives(self.pids[name])


def _lives(pid: int) -> bool:
    """Whether a process runs; one that nobody has asked about since it ended does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@contextmanager
def unit(directory: Path, *nodes: str, kind: str = "loose", stop_seconds: float = 20.0) -> Iterator[Unit]:
    """Brokers under a supervisor; all of them are gone afterwards, whatever happened."""
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), kind, str(stop_seconds), str(directory), *nodes],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_interrupts,
    )
    with process:
        started = Unit(process)
        try:
            yield started
        finally:
            for pid in started.pids.values():
                if _lives(pid):
                    os.kill(pid, signal.SIGKILL)
            process.kill()


def _heed_interrupts() -> None:
    """What a shell runs in the background ignores interrupts, and so do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_brokers_stop_one_after_another_the_last_started_first(
    tmp_path: Path, number: signal.Signals
) -> None:
    with unit(tmp_path, "one", "two") as both:
        assert set(both.pids) == {"one", "two"}
        both.send(number)
        assert both.end() == 0

        ends = [line.split(" | ")[0] for line in both.log.splitlines() if '"stopped"' in line]
        assert ends == ["two", "one"]
        assert all(line.startswith(("one | ", "two | ")) for line in both.log.splitlines())


def test_broker_that_does_not_start_ends_the_others_and_is_named(tmp_path: Path) -> None:
    with unit(tmp_path, "one", "two:--set,num.partitions=none") as failing:
        assert failing.end() == 1

        assert failing.pids == {}
        assert "two | Error: Invalid value none for configuration num.partitions" in failing.log
        assert failing.log.splitlines()[-2:] == [
            "Error: two ended with code 2 before it was ready.",
            "Hint: Its log above says why.",
        ]
        assert '"event": "stopped"' in failing.log


def test_loose_broker_that_ends_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    with unit(tmp_path, "one", "two") as both:
        both.send(signal.SIGKILL, to="one")
        wait_until(lambda: "one has ended with code -9" in both.log, what="the end of one is told")
        assert both.lives("two")

        both.send(signal.SIGTERM)
        assert both.end() == 0


def test_last_loose_broker_that_ends_is_the_end_of_all(tmp_path: Path) -> None:
    with unit(tmp_path, "one") as lone:
        lone.send(signal.SIGKILL, to="one")

        assert lone.end() == 1
        assert "no broker is left" in lone.log


def test_broker_of_a_unit_that_was_told_to_end_leaves_the_others(tmp_path: Path) -> None:
    with unit(tmp_path, "one", "two", kind="unit") as both:
        both.send(signal.SIGTERM, to="one")
        wait_until(lambda: "one has ended with code 0" in both.log, what="the end of one is told")
        assert both.lives("two")

        both.send(signal.SIGTERM, to="two")
        assert both.end() == 0
        assert "no broker is left" in both.log


def test_broker_of_a_unit_that_dies_fails_the_unit(tmp_path: Path) -> None:
    with unit(tmp_path, "one", "two", kind="unit") as both:
        both.send(signal.SIGKILL, to="two")

        assert both.end() == 1
        assert '"event": "stopped"' in both.log
        assert not both.lives("one")


def test_broker_that_does_not_stop_in_time_is_killed(tmp_path: Path) -> None:
    with unit(tmp_path, "one", "two", stop_seconds=0.2) as both:
        both.send(signal.SIGSTOP, to="two")
        both.send(signal.SIGTERM)

        assert both.end() == 1
        assert "two has not stopped within 0.2 s and is killed" in both.log


def test_second_signal_kills_all_at_once(tmp_path: Path) -> None:
    with unit(tmp_path, "one", "two", stop_seconds=600) as both:
        for name in ("one", "two"):
            both.send(signal.SIGSTOP, to=name)
        both.send(signal.SIGTERM)
        both.send(signal.SIGINT)

        assert both.end() == 1
        assert not both.lives("one")
        assert not both.lives("two")


def test_brokers_do_not_outlive_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    with unit(tmp_path, "one", "two") as both:
        both.send(signal.SIGKILL)

        wait_until(lambda: not both.lives("one") and not both.lives("two"), what="the brokers end")


def test_broker_whose_parent_is_gone_does_not_start(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "serve", "--data-dir", str(tmp_path / "data"), "--parent", "1"],
        capture_output=True,
        text=True,
        timeout=END_SECONDS_MAX,
        check=False,
    )

    assert done.returncode == 1
    assert "Process 1, which started this broker, is gone" in done.stderr
    assert not (tmp_path / "data").exists()
