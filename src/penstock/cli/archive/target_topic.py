"""The topic that a replay writes to: made if asked for, and looked at for what would lose records again."""

import time
from typing import TYPE_CHECKING

from penstock.cli.archive.spark import say
from penstock.cli.durations import format_duration
from penstock.cli.instants import format_instant
from penstock.cli.wire_session import connected

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.spark.archive.replay.running import Target
    from penstock.spark.archive.replay.sources import Source
    from penstock.wire_client.cluster import Cluster

_BOOTSTRAP = "kafka.bootstrap.servers"
_RETENTION = "retention.ms"
_FOR_EVER = "-1"


def prepare_target(spark: "SparkSession", source: "Source", target: "Target", *, creates: bool) -> None:
    """Make the topic if it is to be made; tell if its retention is shorter than the records are old.

    Kafka goes by the timestamps of records when it deletes old ones, and those are kept. So a topic that is
    made for a replay keeps its records for ever, until somebody says otherwise.
    """
    from penstock.wire_client.topic_creation import ensure_topic

    with connected(target.options[_BOOTSTRAP]) as cluster:
        if creates:
            phases = source.phases(spark)
            count = 1 + max((number for phase in phases for number in phase.ranges), default=0)
            settings = {_RETENTION: _FOR_EVER}
            ensure_topic(cluster, target.topic, configs=settings, partition_count=count)
        oldest_ms = source.oldest_timestamp_ms(spark)
        if oldest_ms is not None:
            _warn(target, oldest_ms, retention_ms=_retention_ms(cluster, target.topic))


def _retention_ms(cluster: "Cluster", topic: str) -> int:
    from penstock.wire_client.configs import describe_config, topic_resource
    from penstock.wire_client.topics import find_leaders

    if not find_leaders(cluster, [topic]):
        return -1  # Who writes to it will say that it is not there.
    settings = {each.name: each.value for each in describe_config(cluster, topic_resource(topic))}
    deletes = "delete" in (settings.get("cleanup.policy") or "delete")
    return int(settings.get(_RETENTION) or -1) if deletes else -1


def _warn(target: "Target", oldest_ms: int, *, retention_ms: int) -> None:
    if retention_ms < 0 or oldest_ms >= time.time_ns() // 1_000_000 - retention_ms:
        return
    say(
        f"Note: {target.topic} deletes records after {format_duration(retention_ms)}, and the oldest to be "
        f"written is of {format_instant(oldest_ms)}. To keep it: "
        f"penstock topic alter {target.topic} --config {_RETENTION}=-1"
    )
