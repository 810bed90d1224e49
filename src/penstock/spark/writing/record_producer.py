"""Rows on their way to partitions: placed, sorted, encoded, numbered and sent."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.model.ids import TopicPartition
from penstock.spark.columns.encoding import ProducerStamp, encode, next_sequence
from penstock.spark.options.sink_options import SinkOptions
from penstock.spark.writing.conversations import patience_of
from penstock.spark.writing.partitioner import Numbers, Partitioner, split_topics
from penstock.spark.writing.rows import Rows, read_rows
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.delivery.batch import Batch
from penstock.wire_client.delivery.delivery import Delivery
from penstock.wire_client.delivery.settings import DeliverySettings
from penstock.wire_client.producers import ProducerIdentity
from penstock.wire_client.written_topics import partition_counts

Announce = Callable[[Sequence[TopicPartition]], None]
"""Told of partitions before the first batch goes there."""


def _tell_nobody(_: Sequence[TopicPartition]) -> None:
    """Outside of a transaction a partition needs no announcement."""


class RecordProducer:
    """One task's producer. The cluster is its own for as long as it lives."""

    def __init__(
        self,
        cluster: Cluster,
        options: SinkOptions,
        producer: ProducerIdentity,
        *,
        transactional_id: str | None = None,
        announce: Announce = _tell_nobody,
    ) -> None:
        self._cluster = cluster
        self._options = options
        self._producer = producer
        self._is_transactional = transactional_id is not None
        self._announce = announce
        self._delivery = Delivery(cluster, _settings(options, transactional_id))
        self._partitioner = Partitioner(run_bytes=options.batch_bytes_max)
        self._counts: dict[str, int] = {}
        self._sequences: dict[TopicPartition, int] = {}
        self.record_count = 0

    def produce(self, batch: Any) -> None:
        """Send the rows of an Arrow batch; returns before they are acknowledged."""
        for topic, rows in split_topics(read_rows(batch), self._options.topic).items():
            partitions = self._partitioner.partitions(rows, topic, self._partition_count(topic))
            parts = {TopicPartition(topic, number): part for number, part in _by_partition(rows, partitions)}
            if new := [partition for partition in parts if partition not in self._sequences]:
                self._announce(new)
            for partition, records in parts.items():
                self._send(partition, records)
        self.record_count += batch.num_rows

    def flush(self) -> None:
        """Wait until all rows are acknowledged."""
        self._delivery.flush()

    def _partition_count(self, topic: str) -> int:
        if topic not in self._counts:
            patience = patience_of(self._options)
            self._counts |= partition_counts(self._cluster, [topic], patience=patience)
        return self._counts[topic]

    def _send(self, partition: TopicPartition, records: Any) -> None:
        sequence = self._sequences.get(partition, 0)
        stamp = ProducerStamp(
            producer_id=self._producer.producer_id,
            producer_epoch=self._producer.producer_epoch,
            base_sequence=sequence,
            is_transactional=self._is_transactional,
        )
        for each in encode(
            records,
            compression=self._options.compression,
            producer=stamp,
            batch_bytes_max=self._options.batch_bytes_max,
            now_ms=int(time.time() * 1000),
        ):
            self._delivery.send(Batch(partition=partition, data=each.data, record_count=each.record_count))
        self._sequences[partition] = next_sequence(sequence, records.num_rows)


def _by_partition(rows: Rows, partitions: Numbers) -> Iterator[tuple[int, Any]]:
    """The records of each partition, in the order in which the rows came."""
    if (partitions == partitions[0]).all():
        yield int(partitions[0]), rows.records
        return
    order = np.argsort(partitions, kind="stable")
    records = rows.records.take(pa.array(order))
    numbers, starts = np.unique(partitions[order], return_index=True)
    ends = np.append(starts[1:], len(order))
    for number, start, end in zip(numbers, starts, ends, strict=True):
        yield int(number), records.slice(int(start), int(end - start))


def _settings(options: SinkOptions, transactional_id: str | None) -> DeliverySettings:
    return DeliverySettings(
        transactional_id=transactional_id,
        buffer_bytes_max=options.buffer_bytes_max,
        # The leader gives up waiting for its followers before we give up waiting for the leader.
        request_timeout_ms=options.client.request_timeout_ms * 2 // 3,
        delivery_timeout_ms=options.delivery_timeout_ms,
        pause_ms=min(options.client.backoff_ms, 20),
        pause_ms_max=options.client.backoff_max_ms,
    )
