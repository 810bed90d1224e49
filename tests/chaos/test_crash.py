"""kill -9 in the middle of producing, over and over: nothing acknowledged is ever lost.

``PENSTOCK_KILL_ROUNDS`` says how often. The moments are drawn from a fixed seed, as numbers of
acknowledgements to wait for, so that a slow machine is killed at the same points of its work as a fast one.
"""

import random
import time
from collections.abc import Sequence

import pytest
from tests.broker_process import Server
from tests.chaos.vitals import KILL_ROUNDS, TRACEBACK
from tests.chaos.writers import (
    LibrdkafkaWriter,
    PipelinedWriter,
    Writer,
    check_stored,
    number_of,
    wait_for_progress,
)
from tests.conftest import MakeServer
from tests.raw_kafka import Connection

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.timeout(900)]

ACKNOWLEDGEMENTS_MAX = 400
SEGMENT_BYTES = 30_000
"""Small, so that segments are put aside and created all the time."""

TOPICS = {"raw-leader": 1, "raw-all": 1, "raw-idempotent": 1, "plain": 3, "once": 3}


class Ledger:
    """Compares what was acknowledged with what is stored, from where it stopped the last time."""

    def __init__(self, server: Server, writers: Sequence[Writer]) -> None:
        self._server = server
        self._writers = writers
        self._checked = {writer.topic: 0 for writer in writers}

    def check_new(self) -> None:
        """Everything acknowledged since the last look is at its offset."""
        with Connection(self._server.bootstrap) as raw:
            for writer in self._writers:
                new = writer.acknowledged[self._checked[writer.topic] :]
                self._checked[writer.topic] += len(new)
                for partition in range(writer.partitions):
                    self._compare(raw, writer.topic, partition, offsets_to_numbers(new, partition))

    def check_all(self) -> None:
        """Everything ever acknowledged is at its offset, and each partition as a whole is as promised."""
        with Connection(self._server.bootstrap) as raw:
            for writer in self._writers:
                for partition in range(writer.partitions):
                    mine = offsets_to_numbers(writer.acknowledged, partition)
                    self._compare(raw, writer.topic, partition, mine)
        check_stored(self._server.bootstrap, self._writers)

    def _compare(self, raw: Connection, topic: str, partition: int, mine: dict[int, int]) -> None:
        if not mine:
            return
        batches = raw.fetch_all(topic, partition, offset=min(mine))
        stored = {offset: number_of(value) for batch in batches for offset, value in batch.values()}
        lost = {offset: number for offset, number in mine.items() if stored.get(offset) != number}
        assert not lost, f"{topic}-{partition} lost {len(lost)} of {len(mine)} acknowledged: {lost}"


def offsets_to_numbers(acknowledged: Sequence[tuple[int, int, int]], partition: int) -> dict[int, int]:
    return {offset: number for where, offset, number in acknowledged if where == partition}


def make_writers(server: Server) -> list[Writer]:
    with Connection(server.bootstrap) as raw:
        for topic, partitions in (
            ("raw-leader", 1),
            ("raw-all", 1),
            ("raw-idempotent", 1),
            ("plain", 3),
            ("once", 3),
        ):
            assert raw.create_topic(topic, partitions=partitions, segment_bytes=str(SEGMENT_BYTES)) == 0
    at = server.bootstrap
    return [
        PipelinedWriter(at, "raw-leader", acks=1, is_idempotent=False),
        PipelinedWriter(at, "raw-all", acks=-1, is_idempotent=False),
        PipelinedWriter(at, "raw-idempotent", acks=-1, is_idempotent=True),
        LibrdkafkaWriter(at, "plain", partitions=3, acks="1", is_idempotent=False),
        LibrdkafkaWriter(at, "once", partitions=3, acks="all", is_idempotent=True),
    ]


def test_killed_broker_has_every_acknowledged_record_after_each_restart(make_server: MakeServer) -> None:
    server = make_server()
    dice = random.Random("kill -9")
    writers = make_writers(server)
    ledger = Ledger(server, writers)
    for writer in writers:
        writer.start()

    for round_number in range(KILL_ROUNDS):
        wait_for_progress(writers, dice.randint(1, ACKNOWLEDGEMENTS_MAX))
        server.kill()
        if round_number % 3 == 2:
            kill_while_it_recovers(server, seconds=dice.uniform(0.05, 0.6))
        server.restart()
        ledger.check_new()

    wait_for_progress(writers, 1)
    for writer in writers:
        writer.finish()
    ledger.check_all()
    assert server.stop() == 0
    server.restart()
    ledger.check_all()
    assert TRACEBACK not in server.stderr_text()


def kill_while_it_recovers(server: Server, *, seconds: float) -> None:
    """A second crash while the first is being mended; the delay is the fault that is injected."""
    server.launch()
    time.sleep(seconds)
    server.kill()


def test_killed_at_every_kind_of_disk_operation_it_recovers(make_server: MakeServer) -> None:
    """Failpoints end the process by SIGKILL right before a flush, a rename, the creation of a segment."""
    server = make_server()
    dice = random.Random("failpoints")
    writers = make_writers(server)
    ledger = Ledger(server, writers)
    for writer in writers:
        writer.start()
    wait_for_progress(writers, 50)
    server.kill()

    for operation, after_max in (("flush", 300), ("write", 300), ("open", 6), ("rename", 3), ("flush", 20)):
        order = f"{operation}:kill:after={dice.randint(1, after_max)}"
        server.environment["PENSTOCK_FAILPOINTS"] = order
        server.launch()
        assert server.wait_exit(seconds=60) == -9, f"{order} did not strike"
        del server.environment["PENSTOCK_FAILPOINTS"]
        server.restart()
        ledger.check_new()
        wait_for_progress(writers, 20)
        server.kill()

    server.restart()
    for writer in writers:
        writer.finish()
    ledger.check_all()
