"""A mirror: the stream of records, and beside it everything that the driver keeps in step.

::

    with Mirror.connect(plan) as mirror:
        query = mirror.start(spark, available_now=True)
        query.awaitTermination()
        mirror.keep_up()
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from penstock.spark.archive.stores.opening import open_store
from penstock.spark.mirror.access import Access
from penstock.spark.mirror.batches import BatchMirror
from penstock.spark.mirror.clusters import Clusters
from penstock.spark.mirror.group_sync import GroupChange, GroupSync
from penstock.spark.mirror.lag import PartitionLag, partition_lags
from penstock.spark.mirror.naming import OWN_GROUPS_PREFIX, Renaming, Selection
from penstock.spark.mirror.offset_map import OffsetMap, read_map
from penstock.spark.mirror.ownership import claim_storage
from penstock.spark.mirror.topic_sync import TopicChange, TopicSync

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

OFFSETS_PER_TRIGGER_MAX = 200_000
FINISH_SECONDS_MAX = 60.0

_LONG_MAX = 2**63 - 1
_OTHERS = "*"
_EARLIEST = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorPlan:
    """What is mirrored, from where to where, and how."""

    source: Access
    target: Access
    selection: Selection
    renaming: Renaming = field(default_factory=Renaming)
    has_configs: bool = True
    """Whether settings of topics are kept in step; partitions always are."""
    has_offset_header: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    """Of the data source, such as ``maxOffsetsPerTrigger``; stronger than what a mirror would say."""

    def identity(self) -> str:
        """Different for mirrors that have to keep their progress apart."""
        selection = self.selection.subscribe_pattern
        text = json.dumps(
            [
                self.source.bootstrap_servers,
                self.target.bootstrap_servers,
                selection,
                self.renaming.template,
            ]
        )
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class Upkeep(NamedTuple):
    """What the driver did beside the stream, and how far copies are behind."""

    topics: list[TopicChange]
    groups: list[GroupChange]
    lags: list[PartitionLag]


class Mirror:
    """Between two clusters; use it in a ``with`` statement."""

    def __init__(self, plan: MirrorPlan, clusters: Clusters) -> None:
        self._plan = plan
        self._clusters = clusters
        self._topics = TopicSync(
            clusters=clusters, selection=plan.selection, renaming=plan.renaming, has_configs=plan.has_configs
        )
        self._groups = GroupSync(clusters=clusters, selection=plan.selection, renaming=plan.renaming)
        self._map = OffsetMap(plan.target)
        self._batches: BatchMirror | None = None

    @classmethod
    def connect(cls, plan: MirrorPlan) -> Self:
        """Reach both clusters."""
        clusters = Clusters.connect(source=plan.source, target=plan.target)
        try:
            return cls(plan, clusters)
        except BaseException:
            clusters.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._map.__exit__(kind, error, trace)
        self._clusters.close()

    def start(
        self,
        spark: "SparkSession",
        *,
        storage: str,
        available_now: bool = False,
        interval: str = "1 second",
        query_name: str | None = None,
    ) -> "StreamingQuery":
        """Start the stream; one that was started with the same ``storage`` goes on exactly where it ended.

        With another storage a mirror goes on behind the last sync points, so the batch that was under way
        when it ended may be copied twice.
        """
        claim_storage(open_store(storage, spark), self._clusters, self._plan.renaming)
        checkpoint = f"{storage.rstrip('/')}/checkpoint"
        self._batches = BatchMirror(
            self._topics,
            self._map,
            checkpoint=open_store(checkpoint, spark),
            has_offset_header=self._plan.has_offset_header,
        )
        rows = spark.readStream.format("penstock").options(**self._source_options()).load()
        writer = rows.writeStream.foreachBatch(self._batches.write).option("checkpointLocation", checkpoint)
        if query_name is not None:
            writer = writer.queryName(query_name)
        trigger: dict[str, Any] = {"availableNow": True} if available_now else {"processingTime": interval}
        return writer.trigger(**trigger).start()

    def stop(self, query: "StreamingQuery") -> None:
        """Stop the stream between two batches: one that is torn would keep its transactions open for a while.

        One that does not end in time is torn. Either way the next run goes on exactly from there.
        """
        if self._batches is not None:
            self._batches.finish(FINISH_SECONDS_MAX)
        query.stop()

    @property
    def records(self) -> int:
        """How many were copied since the start; a batch that is tried again counts again."""
        return 0 if self._batches is None else self._batches.records

    def keep_topics(self) -> list[TopicChange]:
        """Bring topics in step; the stream does so itself only for those that it has records of."""
        topics = self._topics.topics()
        changes = self._topics.bring_in_step(topics)
        partitions = self._clusters.source.admin.partitions_of(topics)
        self._map.begin(self._topics.mirrored(partitions).values())
        return changes

    def keep_up(self) -> Upkeep:
        """Bring topics and groups in step; to be called every now and then, and after the end."""
        topics = self.keep_topics()
        groups = self._groups.bring_in_step(self._map.entries(), read_map(self._plan.source))
        return Upkeep(topics, groups, self.lags())

    def lags(self) -> list[PartitionLag]:
        """How far copies are behind, partition by partition."""
        source = self._clusters.source
        return partition_lags(source.admin, source.cluster_id, self._map.entries())

    def _source_options(self) -> dict[str, str]:
        return {
            **self._plan.source.spark_options,
            "subscribePattern": self._plan.selection.subscribe_pattern,
            "startingOffsets": self._starting_offsets(),
            "includeHeaders": "true",
            "kafka.isolation.level": "read_committed",
            "maxOffsetsPerTrigger": str(OFFSETS_PER_TRIGGER_MAX),
            "groupIdPrefix": OWN_GROUPS_PREFIX,
            **self._plan.options,
            # A partition that several tasks read would be written by all of them at once, in no order.
            "maxRecordsPerPartition": str(_LONG_MAX),
            "maxBytesPerPartition": str(_LONG_MAX),
        }

    def _starting_offsets(self) -> str:
        """Behind the last sync points; only a stream without a checkpoint asks."""
        positions: dict[str, dict[str, int]] = defaultdict(lambda: {_OTHERS: _EARLIEST})
        partitions = self._clusters.source.admin.partitions_of(self._topics.topics())
        entries = self._map.entries()
        for partition in self._topics.mirrored(partitions).values():
            known = entries[partition].points[-1].source if partition in entries else 0
            if known > 0:
                positions[partition.topic][str(partition.partition)] = known
        return json.dumps({**positions, _OTHERS: _EARLIEST})
