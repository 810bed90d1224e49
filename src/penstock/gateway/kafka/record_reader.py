"""Partitions of one topic, read from exact offsets on, from whoever leads them.

What was handed out and ``positions`` always agree: a reader made anew with them goes on with the very next
record. Records of several partitions come in the order of their timestamps, as far as they were fetched
together. Little is held: one answer of each leader, whose size the request limits, and of these one batch of
each partition unpacked.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from penstock.gateway.kafka.leader_fetches import FetchedPartition, LeaderFetches, ReadLimits
from penstock.records.aborted import AbortedFilter
from penstock.records.batch import split_batches
from penstock.records.record import Record, decode_records
from penstock.wire_client.cluster import Cluster


class ReadRecord(NamedTuple):
    """A record and where it was."""

    partition: int
    record: Record


class _Run(NamedTuple):
    """The rest of what was fetched of one partition; runs are compared by the age of their next record."""

    timestamp: int
    partition: int
    record: Record
    rest: Iterator[Record]


class RecordReader:
    """Reads on from ``positions``, which move as records are handed out. One thread at a time."""

    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        positions: Mapping[int, int],
        *,
        is_read_committed: bool = True,
        limits: ReadLimits | None = None,
    ) -> None:
        self.positions = dict(positions)
        self.ends: dict[int, int] = {}
        """Where partitions ended for this reader when they last told."""
        self._is_read_committed = is_read_committed
        self._runs: list[_Run] = []
        self._fetches = LeaderFetches(
            cluster, topic, limits=limits or ReadLimits(), is_read_committed=is_read_committed
        )

    @property
    def is_at_end(self) -> bool:
        """Whether every partition was read up to where it ended when it last told."""
        return all(each in self.ends and at >= self.ends[each] for each, at in self.positions.items())

    @property
    def trouble(self) -> str:
        """What keeps partitions from being read at present; empty if nothing does."""
        return self._fetches.trouble

    def poll(self, *, records_max: int, wait_ms: int) -> list[ReadRecord]:
        """The next records, up to so many: at once if there are some, none if none come in time."""
        if not self._runs:
            for fetched in self._fetches.fetch(self.positions, wait_ms=wait_ms):
                self._begin(fetched)
        return list(self._taken(records_max))

    def _begin(self, fetched: FetchedPartition) -> None:
        if any(run.partition == fetched.partition for run in self._runs):
            return  # Its former leader still had it when the new one was asked; what is left comes again.
        if fetched.moved_to is not None:
            self.ends.pop(fetched.partition, None)
            self.positions[fetched.partition] = fetched.moved_to
            return
        self.ends[fetched.partition] = fetched.end
        self._push(fetched.partition, self._records(fetched))

    def _push(self, partition: int, rest: Iterator[Record]) -> None:
        record = next(rest, None)
        if record is not None:
            heapq.heappush(self._runs, _Run(record.timestamp, partition, record, rest))

    def _taken(self, records_max: int) -> Iterator[ReadRecord]:
        for _ in range(records_max):
            if not self._runs:
                return
            run = heapq.heappop(self._runs)
            self.positions[run.partition] = run.record.offset + 1
            yield ReadRecord(run.partition, run.record)
            self._push(run.partition, run.rest)

    def _records(self, fetched: FetchedPartition) -> Iterator[Record]:
        """Records from the position on; what nobody is to see moves the position as it is passed."""
        aborted = AbortedFilter(fetched.aborted if self._is_read_committed else ())
        for at, header in split_batches(fetched.records):
            is_hidden = aborted.is_aborted(fetched.records, header, at) or header.is_control
            if not is_hidden and header.next_offset > self.positions[fetched.partition]:
                yield from self._from_position(fetched, decode_records(fetched.records, header, at))
            self._pass(fetched.partition, header.next_offset)

    def _from_position(self, fetched: FetchedPartition, records: Sequence[Record]) -> Iterator[Record]:
        start = self.positions[fetched.partition]
        return (record for record in records if record.offset >= start)

    def _pass(self, partition: int, next_offset: int) -> None:
        self.positions[partition] = max(self.positions[partition], next_offset)
