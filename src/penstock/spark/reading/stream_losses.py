"""What a stream can tell before it reads: topics that went away, were made anew, or got shorter."""

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


class StreamLosses:
    """Compares what a query has read with what there is."""

    def __init__(self, options: SourceOptions, lookup: Lookup) -> None:
        self._options = options
        self._lookup = lookup

    def check(self, start: StreamOffset, latest: StreamOffset) -> StreamOffset:
        """``latest`` with partitions that are only out of sight; losses are handled as the options say."""
        kept: dict[TopicPartition, int] = {}
        for partition, offset in start.offsets.items():
            if partition not in latest.offsets:
                if not self._is_gone(partition, start):
                    kept[partition] = offset
            elif is_made_anew(partition.topic, start, latest):
                self._handle(partition, offset, None, Cause.RECREATED)
            elif latest.offsets[partition] < offset:
                self._handle(partition, latest.offsets[partition], offset, Cause.TRUNCATED)
        if not kept:
            return latest
        topics = {partition.topic for partition in kept}
        ids = {topic: topic_id for topic, topic_id in start.topic_ids.items() if topic in topics}
        return replace(latest, offsets={**latest.offsets, **kept}, topic_ids={**ids, **latest.topic_ids})

    def _is_gone(self, partition: TopicPartition, start: StreamOffset) -> bool:
        """Whether it was deleted; one that is read no more by choice is remembered, should it come back."""
        if not self._is_subscribed(partition):
            return False
        offset = start.offsets[partition]
        remaining = OffsetRange(
            partition=partition,
            start=offset,
            end=offset + 1,
            topic_id=start.topic_ids.get(partition.topic),
        )
        loss = find_loss(self._lookup, remaining)
        if loss is None or loss.cause not in (Cause.DELETED, Cause.RECREATED):
            return False
        self._handle(partition, offset, None, loss.cause)
        return True

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
