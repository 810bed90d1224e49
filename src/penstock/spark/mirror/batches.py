"""One micro-batch after the other to the target, each exactly once, and a sync point behind each.

A batch is one write of the sink under the query's id and the batch's number, so the sink itself knows what
it has. The end of the copy is looked up before the next batch begins: nothing later can be before it, also
if the batch was written by a run that ended before it could say so.
"""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.client import TopicPartition
from penstock.spark.archive.batch_offsets import BatchOffsets, read_batch_offsets, read_query_id
from penstock.spark.archive.stores.store import Store
from penstock.spark.mirror.errors import MirrorError
from penstock.spark.mirror.headers import travelling
from penstock.spark.mirror.offset_map import OffsetMap
from penstock.spark.mirror.sync_points import Copied
from penstock.spark.mirror.topic_sync import TopicSync

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COUNTED_PARTITIONS_MAX = 200
"""Of a batch; where there are more, nobody counts, and groups go on from the sync points themselves."""

_COLUMNS = ("key", "value", "headers", "topic", "partition", "timestamp")


class Span(NamedTuple):
    """What a batch goes through of a partition."""

    start: int | None
    """None if the checkpoint does not tell: it is the first batch, or the partition is new."""
    end: int


def spans_of(offsets: BatchOffsets) -> dict[TopicPartition, Span]:
    """Of partitions that the batch has something of, as far as the checkpoint tells."""
    spans = {
        TopicPartition(*partition): Span(offsets.starts.get(partition), end)
        for partition, end in offsets.ends.items()
    }
    return {partition: span for partition, span in spans.items() if span.start != span.end}


class BatchMirror:
    """Writes micro-batches; what ``foreachBatch`` calls."""

    def __init__(
        self, topics: TopicSync, offset_map: OffsetMap, *, checkpoint: Store, has_offset_header: bool
    ) -> None:
        self._topics = topics
        self._map = offset_map
        self._checkpoint = checkpoint
        self._has_offset_header = has_offset_header
        self._partitions: set[TopicPartition] = set()
        self._meant: set[str] = set()
        self._busy = threading.Lock()
        self._is_over = False
        #: How many records batches had so far, those that the target had already among them.
        self.records = 0

    def finish(self, timeout_seconds: float) -> None:
        """Let the batch end that is under way, if it does so in time, and begin no other."""
        self._is_over = True
        if self._busy.acquire(timeout=timeout_seconds):
            self._busy.release()

    def write(self, rows: "DataFrame", batch_id: int) -> None:
        """What Spark calls with every batch. It must fail rather than return before a batch is copied."""
        with self._busy:
            if self._is_over:
                raise MirrorError(f"Batch {batch_id} is not copied any more: the mirror was asked to stop.")
            self._write(rows, batch_id)

    def _write(self, rows: "DataFrame", batch_id: int) -> None:
        """Copy a batch unless the target has it, then write down how far that was."""
        every = spans_of(read_batch_offsets(self._checkpoint, batch_id))
        self._cover(every)
        spans = {partition: span for partition, span in every.items() if partition.topic in self._meant}
        if not spans:
            return
        records, counts = self._copy(rows, batch_id, spans)
        mirrored = self._topics.mirrored(spans)
        places = {
            partition: TopicPartition(name.copy, name.partition) for partition, name in mirrored.items()
        }
        ends = self._topics.clusters.target.admin.list_offsets(places.values())
        self._map.extend(
            {
                mirrored[partition]: _copied(span, counts.get(partition), target_end=ends[places[partition]])
                for partition, span in spans.items()
            }
        )
        self.records += records

    def _cover(self, spans: Mapping[TopicPartition, Span]) -> None:
        """See that the target has all partitions: topics may be younger than the last look at them."""
        if not spans.keys() <= self._partitions:
            self._meant = set(self._topics.topics())
            self._topics.bring_in_step(self._meant & {partition.topic for partition in spans})
            self._partitions |= spans.keys()

    def _copy(
        self, rows: "DataFrame", batch_id: int, spans: Mapping[TopicPartition, Span]
    ) -> tuple[int, dict[TopicPartition, "_Count"]]:
        """How many records there were, and those of each partition."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        clusters, renaming = self._topics.clusters, self._topics.renaming
        records = travelling(
            rows.where(F.col("topic").isin(*{partition.topic for partition in spans})),
            source_id=clusters.source.cluster_id,
            target_id=clusters.target.cluster_id,
            has_offset=self._has_offset_header,
        )
        numbered = list(spans)[:COUNTED_PARTITIONS_MAX]
        counting = Observation()
        counters = (_counter(number, each) for number, each in enumerate(numbered))
        counted = records.observe(counting, F.count(F.lit(1)).alias("records"), *counters)
        name = F.concat(F.lit(renaming.prefix), F.col("topic"), F.lit(renaming.suffix))
        counted.withColumn("topic", name).select(*_COLUMNS).write.format("penstock").mode("append").options(
            **clusters.target.access.spark_options,
            txnAppId=f"penstock-mirror-{read_query_id(self._checkpoint)}",
            txnVersion=str(batch_id),
        ).save()
        found: dict[str, Any] = counting.get
        counts = {each: _Count(*found[f"p{number}"]) for number, each in enumerate(numbered)}
        return int(found["records"]), counts


class _Count(NamedTuple):
    """Records of a partition that were copied: how many, and the offset of the first."""

    records: int
    first: int | None


def _counter(number: int, partition: TopicPartition) -> "Column":
    from pyspark.sql import functions as F

    is_there = (F.col("topic") == partition.topic) & (F.col("partition") == partition.partition)
    first = F.min(F.when(is_there, F.col("offset")))
    return F.struct(F.count_if(is_there), first).alias(f"p{number}")


def _copied(span: Span, count: _Count | None, *, target_end: int) -> Copied:
    if count is None:
        return Copied(span.start or 0, span.end, None, target_end)
    first = span.end if count.first is None else count.first
    return Copied(first if span.start is None else span.start, span.end, count.records, target_end)
