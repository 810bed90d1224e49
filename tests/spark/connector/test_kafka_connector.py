"""Spark's own Kafka connector, which runs in Java, reads, streams and writes topics of our broker."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.conftest import UniqueName
from tests.spark.connector.connector_jars import connector_jars

from penstock import Producer

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = Path(__file__).with_name("copying.py")
COMMITTED = 3_000
SECONDS_MAX = 110


@contextmanager
def copying(*arguments: str) -> "Iterator[subprocess.Popen[str]]":
    """The program, and whatever it starts: Java is a process of its own, in the same session."""
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def fill(bootstrap: str, topic: str) -> None:
    """Committed records, and aborted ones between them."""
    with Producer(bootstrap_servers=bootstrap, transactional_id=f"{topic}-filler") as producer:
        for half in range(2):
            with producer.transaction():
                for number in range(COMMITTED // 2):
                    producer.send(topic, b"%d-%d" % (half, number), key=b"%d" % (number % 7))
            transaction = producer.transaction()
            transaction.__enter__()
            producer.send_batch((topic, b"aborted") for _ in range(50))
            transaction.__exit__(RuntimeError, RuntimeError("given up"), None)


def test_connector_reads_streams_and_writes_and_its_checkpoint_survives_a_kill(
    bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    source, target = unique("orders"), unique("copies")
    fill(bootstrap, source)
    jars = tmp_path / "jars"
    jars.mkdir()
    arguments = (",".join(map(str, connector_jars(jars))), bootstrap, source, target, str(tmp_path / "out"))
    with copying(*arguments) as first:
        assert first.stdout is not None
        counted = [line.split()[0] for _, line in zip(range(2), first.stdout, strict=False)]
        assert counted == ["read", "streaming"]
    with copying(*arguments) as second:
        output, complaints = second.communicate(timeout=SECONDS_MAX)
    assert second.returncode == 0, complaints
    counts = dict(line.split() for line in output.splitlines() if not line.startswith("streaming"))
    assert counts == dict.fromkeys(("read", "archived", "distinct", "written"), str(COMMITTED))
