"""What a micro-batch adds to an archive, and what of it is there already.

A batch comes again after a crash, and may then have other bounds if the checkpoint was lost or restored from
a copy. So what counts is not its number but its offsets: a record whose offset is covered already is left
out. The *fence* is what a batch leaves out; rows are filtered by it before they are written, and a commit is
refused where the archive covers more of the batch by now than the fence did.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.model.ids import TopicPartition
from penstock.spark.archive.batch_offsets import BatchOffsets
from penstock.spark.archive.commits import Commit, CommitKind
from penstock.spark.archive.errors import ArchiveError
from penstock.spark.archive.files import ArchivedFile, Span, merged_spans
from penstock.spark.archive.incarnations import Log, TopicIds, incarnation_of
from penstock.spark.archive.intervals import Interval, Intervals, covers, intersection
from penstock.spark.archive.state import ArchiveState

Fence = Mapping[TopicPartition, Intervals]
"""Offsets that are archived already, by partitions of a batch."""


class AlreadyArchivedError(ArchiveError):
    """A batch has records that are in the archive already; ``fence`` has more than it was filtered by."""

    def __init__(self, fence: Fence) -> None:
        super().__init__(f"Records of {', '.join(map(str, sorted(fence)))} are archived already.")
        self.fence = fence


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A micro-batch, as far as it is known before its rows are written."""

    query_id: str
    batch_id: int
    offsets: BatchOffsets

    def fence(self, state: ArchiveState) -> Fence:
        """What of the offsets that it has been through is archived already."""
        found = {
            partition: intersection(covered_of(state, self, partition), Interval(start, end))
            for partition, (start, end) in self._ranges().items()
        }
        return {partition: intervals for partition, intervals in found.items() if intervals}

    def is_archived(self, state: ArchiveState) -> bool:
        """Whether all of it is: then there is nothing to do."""
        ranges = self._ranges()
        return bool(ranges) and all(
            covers(covered_of(state, self, partition), interval) for partition, interval in ranges.items()
        )

    def _ranges(self) -> dict[TopicPartition, Interval]:
        """From the start where one is known, from the beginning otherwise."""
        return {
            partition: Interval(self.offsets.starts.get(partition, 0), end)
            for partition, end in self.offsets.ends.items()
        }


def covered_of(state: ArchiveState, batch: Batch, partition: TopicPartition) -> Intervals:
    """What is archived of a partition, in the incarnation that the batch has read."""
    number, _ = _incarnation(state, batch, partition.topic)
    return state.covered.get(Log(partition.topic, number, partition.partition), ())


def batch_commit(
    state: ArchiveState, batch: Batch, files: Sequence[ArchivedFile], *, fence: Fence, now_ms: int
) -> Commit:
    """The commit of a batch whose rows, filtered by ``fence``, are in ``files``."""
    spans = _spans(files)
    _check_fence(state, batch, spans, fence)
    topics = {partition.topic for partition in (*spans, *batch.offsets.ends)}
    known = {topic: _incarnation(state, batch, topic) for topic in sorted(topics)}
    covered = {
        Log(partition.topic, known[partition.topic][0], partition.partition): interval
        for partition, interval in _covered(batch.offsets, spans).items()
    }
    news = {
        log: interval for log, interval in covered.items() if not covers(state.covered.get(log, ()), interval)
    }
    return Commit(
        kind=CommitKind.BATCH,
        at_ms=now_ms,
        query_id=batch.query_id,
        batch_id=batch.batch_id,
        covered=news,
        topics={log.topic: known[log.topic][1] for log in news},
        added=tuple(replace(file, incarnation=known[file.topic][0]) for file in files),
    )


def _spans(files: Sequence[ArchivedFile]) -> dict[TopicPartition, Span]:
    topics = {file.topic for file in files}
    return {
        TopicPartition(topic, number): span
        for topic in sorted(topics)
        for number, span in merged_spans([file for file in files if file.topic == topic]).items()
    }


def _check_fence(
    state: ArchiveState, batch: Batch, spans: Mapping[TopicPartition, Span], fence: Fence
) -> None:
    beyond: dict[TopicPartition, Intervals] = {}
    for partition, span in spans.items():
        archived = intersection(covered_of(state, batch, partition), Interval(span.first, span.last + 1))
        if not all(covers(fence.get(partition, ()), interval) for interval in archived):
            beyond[partition] = covered_of(state, batch, partition)
    if beyond:
        raise AlreadyArchivedError(beyond)


def _covered(offsets: BatchOffsets, spans: Mapping[TopicPartition, Span]) -> dict[TopicPartition, Interval]:
    """What the batch has been through; where no start is known, from its first record on.

    Offsets without records are part of it: they may be markers, compacted, or lost, and do not tell which.
    Who goes on where records were lost has that in the log of the reading.
    """
    found: dict[TopicPartition, Interval] = {}
    for partition in sorted({*spans, *offsets.starts}):
        span = spans.get(partition)
        firsts = [offsets.starts.get(partition), span and span.first]
        ends = [offsets.ends.get(partition), span and span.last + 1]
        interval = Interval(
            min(first for first in firsts if first is not None), max(end for end in ends if end is not None)
        )
        if not interval.is_empty:
            found[partition] = interval
    return found


def _incarnation(state: ArchiveState, batch: Batch, topic: str) -> tuple[int, TopicIds]:
    return incarnation_of(state.topics.get(topic, ()), batch.offsets.topic_ids.get(topic))
