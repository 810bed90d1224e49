"""The offset map in its topic."""

from penstock.client import Admin
from penstock.spark.mirror.access import Access
from penstock.spark.mirror.offset_map import TOPIC, MirroredPartition, OffsetMap, read_map
from penstock.spark.mirror.sync_points import BEGINNING, Copied, SyncPoint
from penstock.testing import Broker

ORDERS = MirroredPartition("cluster-a", "orders", 0, "eu.orders")
PAYMENTS = MirroredPartition("cluster-a", "payments", 3, "eu.payments")


def test_map_is_there_for_everybody_and_for_the_next_run(west: Broker) -> None:
    assert read_map(Access(bootstrap_servers=west.bootstrap_servers)) == {}
    with OffsetMap(Access(bootstrap_servers=west.bootstrap_servers)) as first:
        first.begin([ORDERS, PAYMENTS])
        first.extend({ORDERS: Copied(0, 10, 10, 11)})
        assert read_map(Access(bootstrap_servers=west.bootstrap_servers)) == first.entries()

    with OffsetMap(Access(bootstrap_servers=west.bootstrap_servers)) as second:
        second.begin([ORDERS])
        second.extend({ORDERS: Copied(10, 20, 10, 22)})
        entries = second.entries()

    assert entries[ORDERS].points == (SyncPoint(0, 0, 10), SyncPoint(10, 11, 20), SyncPoint(20, 22, 20))
    assert entries[PAYMENTS].points == (BEGINNING,)
    assert read_map(Access(bootstrap_servers=west.bootstrap_servers)) == entries
    with Admin(bootstrap_servers=west.bootstrap_servers) as admin:
        assert admin.describe_config(TOPIC)["cleanup.policy"].value == "compact"
