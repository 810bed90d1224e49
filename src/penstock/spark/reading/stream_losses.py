"""What a stream can tell before it reads: topics that went away, were made anew, or got shorter."""

from collections.abc import Mapping
from dataclasses import replace

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.offsets.stream_offset import StreamOffset
from penstock.spark.offsets.stream_steps import is_made_anew
from penstock.spark.options.source_options import SourceOptions
from penstock.spark.options.subscriptions import Assign, Subscribe, SubscribePattern
from penstock.spark.reading.data_loss import Cause, Loss, handle_loss
from penstock.spark.reading.lookup import Lookup
from penstock.spark.reading.vanished import find_loss

_TOPIC_IS_GONE = frozenset({Cause.DELETED, Cause.RECREATED})


class StreamLosses:
    """Compares what a query has read with what there is."""

    def __init__(self, options: SourceOptions, lookup: Lookup) -> None:
        self._options = options
        self._lookup = lookup

    def check(self, start: StreamOffset, latest: StreamOffset) -> StreamOffset:
        """``latest`` with partitions that are only out of sight; losses are handled as the options say."""
        latest = self._behind_open_transactions(start, latest)
        kept = self._out_of_sight(start, latest)
        for partition, offset in start.offsets.items():
            if partition not in latest.offsets:
                continue
            if is_made_anew(partition.topic, start, latest):
                self._handle(partition, offset, None, Cause.RECREATED)
            elif latest.offsets[partition] < offset:
                self._handle(partition, latest.offsets[partition], offset, Cause.TRUNCATED)
        if not kept:
            return latest
        topics = {partition.topic for partition in kept}
        ids = {topic: topic_id for topic, topic_id in start.topic_ids.items() if topic in topics}
        return replace(latest, offsets={**latest.offsets, **kept}, topic_ids={**ids, **latest.topic_ids})

    def _behind_open_transactions(self, start: StreamOffset, latest: StreamOffset) -> StreamOffset:
        """``latest``, but not before what was read when open transactions were not left out yet.

        For who reads what is committed a partition ends where its first open transaction begins. A query that
        goes over to that waits there until the transaction has ended, and reads nothing twice.
        """
        read = {
            partition: offset
            for partition, offset in start.offsets.items()
            if latest.offsets.get(partition, offset) < offset
            and not is_made_anew(partition.topic, start, latest)
        }
        if not read or not self._options.is_read_committed:
            return latest
        everything = self._lookup.of_all_records()
        ends = everything.latest(everything.layouts(Assign(partitions=tuple(sorted(read)))))
        reached = {partition: min(offset, ends.get(partition, offset)) for partition, offset in read.items()}
        return replace(latest, offsets={**latest.offsets, **reached})

    def _out_of_sight(self, start: StreamOffset, latest: StreamOffset) -> dict[TopicPartition, int]:
        """Partitions that were read and are not there now, without those that are known to be deleted."""
        missing = {key: offset for key, offset in start.offsets.items() if key not in latest.offsets}
        causes = {topic: self._why_gone(topic, missing, start) for topic in {key.topic for key in missing}}
        kept: dict[TopicPartition, int] = {}
        for partition, offset in missing.items():
            cause = causes[partition.topic]
            if cause is None:
                kept[partition] = offset
            else:
                self._handle(partition, offset, None, cause)
        return kept

    def _why_gone(
        self, topic: str, missing: Mapping[TopicPartition, int], start: StreamOffset
    ) -> Cause | None:
        """None for a topic that is read no more by choice: it is remembered, should it come back."""
        partition = min(key for key in missing if key.topic == topic)
        if not self._is_subscribed(partition):
            return None
        remaining = OffsetRange(
            partition=partition,
            start=missing[partition],
            end=missing[partition] + 1,
            topic_id=start.topic_ids.get(topic),
        )
        loss = find_loss(self._lookup, remaining)
        return loss.cause if loss is not None and loss.cause in _TOPIC_IS_GONE else None

    def _is_subscribed(self, partition: TopicPartition) -> bool:
        match self._options.subscription:
            case Subscribe(topics=topics):
                return partition.topic in topics
            case SubscribePattern() as pattern:
                return bool(pattern.matching([partition.topic]))
            case Assign(partitions=partitions):
                return partition in partitions

    def _handle(self, partition: TopicPartition, start: int, end: int | None, cause: Cause) -> None:
        loss = Loss(partition=partition, start=start, end=end, cause=cause)
        handle_loss(loss, self._options.on_data_loss)
