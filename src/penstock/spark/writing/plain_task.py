"""A task that writes at least once: what it writes is there as soon as the leaders have it."""

from collections.abc import Iterable
from typing import Any

from penstock.spark.options.sink_options import SinkOptions
from penstock.spark.writing.conversations import cluster_for, patience_of
from penstock.spark.writing.messages import PlainMessage
from penstock.spark.writing.record_producer import RecordProducer
from penstock.spark.writing.rounds import rounds
from penstock.wire_client.producers import new_producer


def write_plainly(options: SinkOptions, batches: Iterable[Any]) -> PlainMessage:
    """Write all rows; they are acknowledged when this returns."""
    with cluster_for(options) as cluster:
        producer: RecordProducer | None = None
        for batch in rounds(batches):
            if producer is None:
                producer = RecordProducer(cluster, options, new_producer(cluster, patience_of(options)))
            producer.produce(batch)
        if producer is None:
            return PlainMessage(record_count=0)
        producer.flush()
        return PlainMessage(record_count=producer.record_count)
