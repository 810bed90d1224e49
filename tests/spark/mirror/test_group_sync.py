"""Groups of one cluster carried over to another, between two real ones."""

import pytest

from penstock.client import Consumer, Producer, TopicPartition
from penstock.spark.mirror.clusters import Clusters
from penstock.spark.mirror.group_sync import GroupSync
from penstock.spark.mirror.naming import Renaming, Selection
from penstock.spark.mirror.offset_map import Entry, MirroredPartition
from penstock.spark.mirror.sync_points import Points, SyncPoint
from penstock.testing import Broker

THERE = (SyncPoint(0, 0, 10), SyncPoint(10, 11, 10), SyncPoint(20, 21, 20))
TOPIC = TopicPartition("orders", 0)


@pytest.fixture(autouse=True)
def orders(east: Broker, west: Broker) -> None:
    for broker in (east, west):
        broker.create_topic("orders")
        with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.send_batch(("orders", b"%d" % number, None, None, 0) for number in range(40))


@pytest.fixture
def sync(clusters: Clusters) -> GroupSync:
    selection = Selection(topics=("orders",), group_pattern="billing|idle")
    return GroupSync(clusters=clusters, selection=selection, renaming=Renaming())


def there(clusters: Clusters, points: Points = THERE) -> dict[MirroredPartition, Entry]:
    return {MirroredPartition(clusters.source.cluster_id, "orders", 0, "orders"): Entry(points, 0)}


def back(clusters: Clusters, points: Points) -> dict[MirroredPartition, Entry]:
    return {MirroredPartition(clusters.target.cluster_id, "orders", 0, "orders"): Entry(points, 0)}


def test_group_goes_on_where_nothing_is_missed_and_never_goes_back(
    clusters: Clusters, sync: GroupSync
) -> None:
    source, target = clusters.source.admin, clusters.target.admin
    source.alter_group_offsets("billing", {TOPIC: 7})
    source.alter_group_offsets("other", {TOPIC: 7})

    (change,) = sync.bring_in_step(there(clusters), {})
    assert str(change) == "group billing would go on from orders-0 7"
    assert target.group_offsets("billing") == {TOPIC: 7}
    assert target.group_offsets("other") == {}

    source.alter_group_offsets("billing", {TOPIC: 39})
    sync.bring_in_step(there(clusters), {})
    assert target.group_offsets("billing") == {TOPIC: 21}

    source.alter_group_offsets("billing", {TOPIC: 3})
    assert sync.bring_in_step(there(clusters), {}) == []
    assert target.group_offsets("billing") == {TOPIC: 21}


def test_group_with_members_at_the_target_is_left_alone(clusters: Clusters, sync: GroupSync) -> None:
    for group in ("billing", "idle"):
        clusters.source.admin.alter_group_offsets(group, {TOPIC: 10})
    with Consumer(
        bootstrap_servers=clusters.target.access.bootstrap_servers,
        group_id="billing",
        auto_offset_reset="earliest",
    ) as member:
        member.subscribe(["orders"])
        assert member.poll(20.0)
        changes = sync.bring_in_step(there(clusters), {})

    assert [change.group for change in changes] == ["idle"]


def test_group_that_cannot_be_asked_is_told_and_keeps_no_other_back(
    east: Broker, clusters: Clusters, sync: GroupSync
) -> None:
    for group in ("billing", "idle"):
        clusters.source.admin.alter_group_offsets(group, {TOPIC: 10})

    with east.faults.fail("OffsetFetch", error="GROUP_ID_NOT_FOUND", times=1):
        refused, carried = sync.bring_in_step(there(clusters), {})

    assert f"group {refused.group} stays as it is at the target: " in str(refused)
    assert str(carried) == f"group {carried.group} would go on from orders-0 11"
    assert {refused.group, carried.group} == {"billing", "idle"}


def test_where_the_copy_begins_is_good_enough_for_who_is_before_it(
    clusters: Clusters, sync: GroupSync
) -> None:
    clusters.source.admin.alter_group_offsets("billing", {TOPIC: 2})
    clusters.target.admin.delete_records({TOPIC: 5})

    sync.bring_in_step(there(clusters, (SyncPoint(4, 0, 4), SyncPoint(10, 11, 10))), {})

    assert clusters.target.admin.group_offsets("billing") == {TOPIC: 5}


def test_records_that_the_target_had_first_are_not_missed(clusters: Clusters, sync: GroupSync) -> None:
    """Of the target's own records up to 30, the group has read those up to 12: they were at 15 here."""
    known, came = (
        there(clusters),
        back(clusters, (SyncPoint(0, 0, 0), SyncPoint(12, 15, 12), SyncPoint(30, 33, 30))),
    )

    assert sync.positions({TOPIC: 20}, entries=known, reverse=came) == {TOPIC: 12}
    assert sync.positions({TOPIC: 33}, entries=known, reverse=came) == {TOPIC: 21}
