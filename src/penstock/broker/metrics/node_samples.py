"""Metrics of the broker itself: who it is, its disk, its caches, its copying."""

import platform
from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.broker.metrics import table
from penstock.broker.metrics.metric import Family
from penstock.model.version import __version__

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


def build_family() -> Family:
    """What runs here."""
    return Family(table.BUILD_INFO, [(table.BUILD_INFO.series(__version__, platform.python_version()), 1)])


def node_families(broker: "Broker") -> Iterator[Family]:
    """What a broker that has started can tell of itself."""
    rack = broker.config.string("broker.rack")
    who = table.NODE_INFO.series(broker.node_id, broker.cluster_id, rack, broker.address)
    yield Family(table.NODE_INFO, [(who, 1)])
    yield from _copying(broker)
    yield from _disk(broker)
    yield Family(table.TAIL_CACHE, [("", broker.tail_cache.size_bytes)])
    yield Family(table.TAIL_CACHE_LIMIT, [("", broker.tail_cache.capacity_bytes)])


def _copying(broker: "Broker") -> Iterator[Family]:
    traffic = broker.server.traffic
    yield Family(
        table.FETCHED_BYTES,
        [
            (table.FETCHED_BYTES.series("file"), traffic.file_bytes_out),
            (table.FETCHED_BYTES.series("memory"), traffic.memory_bytes_out),
        ],
    )
    yield Family(table.REPLICATION_BYTES_IN, [("", broker.replication.copied_bytes)])
    yield Family(table.REPLICATION_BYTES_OUT, [("", traffic.replication_bytes_out)])
    now, throttles = broker.clock.monotonic(), broker.replication.throttles
    yield Family(
        table.REPLICATION_WAIT,
        [
            (table.REPLICATION_WAIT.series("leader"), throttles.leader.seconds_to_wait(now)),
            (table.REPLICATION_WAIT.series("follower"), throttles.follower.seconds_to_wait(now)),
        ],
    )


def _disk(broker: "Broker") -> Iterator[Family]:
    flushes = broker.meters.flushes
    yield Family(table.FLUSH_DURATION, flushes.latency.samples())
    yield Family(table.FLUSHED_BYTES, [("", broker.log_directory.flushed_bytes)])
    yield Family(table.FLUSHED_LOGS, [("", flushes.logs_flushed)])
    room = broker.log_directory.room
    yield Family(table.DISK_IS_LOW, [("", int(room.is_low))])
    if room.usage is not None:
        yield Family(table.DISK_FREE, [("", room.usage.free_bytes)])
        yield Family(table.DISK_SIZE, [("", room.usage.total_bytes)])
