"""What was acknowledged, against what is stored: the one comparison that every crash test makes."""

from collections.abc import Sequence

from tests.broker_process import Server
from tests.chaos.writers import LibrdkafkaWriter, PipelinedWriter, Writer, check_stored, number_of
from tests.raw_kafka import Connection

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
