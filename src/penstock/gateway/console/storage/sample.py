"""A sample of a topic: its newest messages, read as any client reads, within bounds of count, bytes and time.

A topic that is not larger than the bound is its own sample, and every figure is exact.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.analysis.key_counts import keys_per_partition
from penstock.analysis.partition_analysis import PartitionAnalysis
from penstock.analysis.record_statistics import RecordStatistics
from penstock.gateway.console.messages.topic_ranges import TopicRanges
from penstock.model.ids import TopicPartition
from penstock.records.batch import crc_matches
from penstock.records.errors import CorruptBatchError
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.fetching import FetchedBatch, Fetching, FetchLimits, OffsetRange

MESSAGES_MAX = 500_000
BYTES_MAX = 256 * 1024 * 1024
SECONDS_MAX = 20.0
KEYS_TOTAL_MAX = 200_000
"""Remembered by all partitions together."""


@dataclass(slots=True, kw_only=True)
class Sample:
    """What was read, by partition."""

    topic: str
    held: TopicRanges
    """What the partitions hold."""
    windows: Mapping[int, OffsetRange]
    """What of it was to be read."""
    partitions: dict[int, PartitionAnalysis]
    stopped: str = ""
    """Why less was read than was to be."""
    _bytes: int = field(default=0)

    @property
    def offsets_held(self) -> int:
        """All that there is."""
        return sum(offsets.end - offsets.start for offsets in self.held.values())

    @property
    def offsets_read(self) -> int:
        """What the figures are about."""
        return sum(
            max(0, min(each.next_offset, self.windows[number].end) - self.windows[number].start)
            for number, each in self.partitions.items()
            if each.next_offset is not None
        )

    def add(self, batch: FetchedBatch) -> None:
        """Count one batch."""
        analysis, header = self.partitions[batch.partition.partition], batch.header
        analysis.saw(header.base_offset, header.next_offset)
        self._bytes += header.size_bytes
        if not crc_matches(batch.buffer, header, batch.at):
            analysis.note(
                f"The batch at offset {header.base_offset} is damaged: its checksum does not match."
            )
            return
        try:
            analysis.statistics.add_batch(batch.buffer, header, batch.at)
        except CorruptBatchError as error:
            analysis.note(f"The batch at offset {header.base_offset} is not counted: {error.message}")

    def is_enough(self, deadline: float) -> bool:
        """Whether reading must end, and then why."""
        if self._bytes > BYTES_MAX:
            self.stopped = f"{BYTES_MAX // 1024 // 1024} MiB were read, which is the most for one analysis."
        elif time.monotonic() > deadline:
            self.stopped = f"It took {SECONDS_MAX:g} s, which is the most for one analysis."
        return bool(self.stopped)


def take_sample(cluster: Cluster, topic: str, held: TopicRanges, *, messages_max: int) -> Sample:
    """Read the newest messages of every partition, up to ``messages_max`` of all together."""
    share = max(1, messages_max // max(1, len(held)))
    windows = {
        number: OffsetRange(max(offsets.start, offsets.end - share), offsets.end)
        for number, offsets in held.items()
    }
    keys_max = keys_per_partition(len(held), total_max=KEYS_TOTAL_MAX)
    sample = Sample(
        topic=topic,
        held=held,
        windows=windows,
        partitions={
            number: PartitionAnalysis(
                partition=TopicPartition(topic, number), statistics=RecordStatistics(keys_max=keys_max)
            )
            for number in held
        },
    )
    deadline = time.monotonic() + SECONDS_MAX
    ranges = {TopicPartition(topic, number): window for number, window in windows.items()}
    fetching = Fetching(cluster, ranges, limits=FetchLimits(partition_bytes_max=512 * 1024))
    for answer in fetching.answers():
        for batch in answer:
            sample.add(batch)
        if sample.is_enough(deadline):
            break
    for partition, offset in fetching.missed.items():
        sample.partitions[partition.partition].note(f"From offset {offset} on nothing came.")
    return sample
