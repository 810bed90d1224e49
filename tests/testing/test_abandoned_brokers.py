"""Test runs that end without a word: no process and no file of theirs stays."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.broker_process import wait_until

ROOT = Path(__file__).parents[2]

START = """
import sys, time
from penstock.testing import Broker

thread, process = Broker(on_disk=True).start(), Broker(process=True).start()
print(process.pid, flush=True)
"""

FORK = """
import os
from penstock.testing import topics

made = [broker.create_topic() for broker in (thread, process)]
if (child := os.fork()) == 0:
    {end}
assert os.waitpid(child, 0) == (child, 0)
for broker, topic in zip((thread, process), made):
    broker.restart()
    topics.wait_led(broker.ask, topic)
print(process.pid)
"""


def run(script: str, directory: Path) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(directory)}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", START + script],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("script", ["sys.exit(3)", "raise KeyboardInterrupt"])
def test_run_that_forgets_its_brokers_leaves_nothing(script: str, tmp_path: Path) -> None:
    with run(script, tmp_path) as process:
        output, _ = process.communicate(timeout=60)
    assert not is_alive(int(output))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", ["sys.exit()", "thread.close(), process.close(); os._exit(0)"])
def test_child_that_ends_leaves_the_brokers_of_its_parent_alone(end: str, tmp_path: Path) -> None:
    with run(FORK.format(end=end), tmp_path) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    first, second = map(int, output.split())
    assert not is_alive(first)
    assert not is_alive(second)
    assert list(tmp_path.iterdir()) == []


def test_process_ends_with_a_run_that_is_killed(tmp_path: Path) -> None:
    with run("time.sleep(100)", tmp_path) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: not is_alive(pid), what="the end of the broker", seconds=20)
