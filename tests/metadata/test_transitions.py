"""Why things happened, as two images side by side tell it."""

from dataclasses import replace

from tests.metadata.cluster import ONE, THREE, TWO, changed, make_broker, make_image, make_partition

from penstock.metadata.fencing import begin_controlled_shutdown, fence, forget, unfence
from penstock.metadata.image import ClusterImage
from penstock.metadata.leader_election import preferred_elections
from penstock.metadata.records import PartitionChangeRecord, RegisterBrokerRecord
from penstock.metadata.transitions import (
    BrokerEvent,
    broker_changes,
    in_sync_changes,
    leader_changes,
    partition_steps,
)
from penstock.model.ids import NodeId

SILENT = {ONE: "no heartbeat for 1600 ms"}


def brokers_said(before: ClusterImage, image: ClusterImage) -> list[tuple[NodeId, BrokerEvent, str]]:
    changes = broker_changes(before, image, SILENT)
    return [(change.node_id, change.event, change.cause) for change in changes]


def elections_said(before: ClusterImage, image: ClusterImage) -> list[tuple[str, str]]:
    return [(change.step.name, change.cause) for change in leader_changes(before, image, SILENT)]


def test_fencing_tells_how_long_a_broker_was_silent() -> None:
    before = make_image(make_partition())
    after = before.apply(fence(before, ONE))

    assert brokers_said(before, after) == [(ONE, BrokerEvent.FENCED, "no heartbeat for 1600 ms")]
    assert elections_said(before, after) == [("orders-0", "broker 1 was fenced: no heartbeat for 1600 ms")]


def test_letting_in_elects_who_came_back() -> None:
    brokers = [make_broker(1, fenced=True), make_broker(2)]
    before = make_image(make_partition((1, 2), isr=(), leader=-1, elr=(1,)), brokers=brokers)
    after = before.apply(unfence(before, ONE))

    assert [event for _, event, _ in brokers_said(before, after)] == [BrokerEvent.UNFENCED]
    assert elections_said(before, after) == [("orders-0", "nobody led, and broker 1 came back")]


def test_stopping_broker_hands_over_and_is_fenced_for_that() -> None:
    before = make_image(make_partition())
    moved = before.apply(begin_controlled_shutdown(before, ONE))
    after = moved.apply(fence(moved, ONE))

    assert [event for _, event, _ in brokers_said(before, moved)] == [BrokerEvent.STOPPING]
    assert elections_said(before, moved) == [("orders-0", "broker 1 is stopping")]
    assert brokers_said(moved, after)[0][2] == "it has handed over what it led, and stops"


def test_broker_that_is_forgotten_is_told_so() -> None:
    before = make_image(make_partition())
    after = before.apply(forget(before, before.brokers[ONE]))

    assert [event for _, event, _ in brokers_said(before, after)] == [BrokerEvent.UNREGISTERED]
    assert elections_said(before, after) == [("orders-0", "broker 1 was unregistered")]


def test_new_process_of_a_broker_is_registered() -> None:
    before = make_image(make_partition())
    broker = before.brokers[ONE]
    record = RegisterBrokerRecord(
        broker_id=1, incarnation_id=bytes(16), broker_epoch=broker.epoch + 9, log_dirs=broker.directories
    )
    after = before.apply([record])

    assert brokers_said(before, after) == [(ONE, BrokerEvent.REGISTERED, "its process began")]


def test_preferred_leader_takes_over_because_it_is_preferred() -> None:
    before = make_image(make_partition((1, 2, 3), isr=(1, 2, 3), leader=2))
    after = before.apply(preferred_elections(before, limit=10))

    assert elections_said(before, after) == [("orders-0", "broker 1 is the preferred leader")]


def test_reassignment_that_takes_the_leader_away_is_named() -> None:
    before = make_image(make_partition((1, 2, 3), isr=(1, 2, 3)))
    record = PartitionChangeRecord(
        topic_id=before.topics["orders"].topic_id,
        partition_id=0,
        replicas=(2, 3),
        isr=(2, 3),
        leader=2,
        directories=(bytes(16), bytes(16)),
    )

    assert elections_said(before, before.apply([record])) == [
        ("orders-0", "a reassignment took the replica of broker 1 away")
    ]


def test_unclean_election_is_one() -> None:
    before = make_image(make_partition(isr=(1,)), configs={"unclean.leader.election.enable": "true"})
    (change,) = leader_changes(before, before.apply(fence(before, ONE)))

    assert change.is_unclean


def test_in_sync_set_shrinks_for_a_fenced_broker() -> None:
    before = make_image(make_partition((1, 2, 3), isr=(1, 2, 3)))
    after = before.apply(fence(before, TWO))
    (change,) = in_sync_changes(before, after, leader=ONE)

    assert (change.node_id, change.is_loss, change.cause) == (TWO, True, "broker 2 was fenced")
    assert not in_sync_changes(before, after, leader=THREE), "only the leader tells"


def test_in_sync_set_that_its_leader_asked_for_has_no_cause_in_the_images() -> None:
    before = make_image(make_partition((1, 2, 3), isr=(1, 2)))
    record = PartitionChangeRecord(topic_id=before.topics["orders"].topic_id, partition_id=0, isr=(1, 3))
    lost, gained = in_sync_changes(before, before.apply([record]), leader=ONE)

    assert (lost.node_id, lost.is_loss, lost.cause) == (TWO, True, None)
    assert (gained.node_id, gained.is_loss) == (THREE, False)


def test_steps_are_those_of_partitions_that_changed() -> None:
    before = make_image(make_partition(), make_partition())

    assert [step.name for step in partition_steps(before, changed(before, isr=(1,)))] == ["orders-0"]
    assert not list(partition_steps(before, replace(before, next_producer_id=7)))
