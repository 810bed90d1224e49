"""A controller's day, in any order: whatever it decides, certain things hold in the image afterwards."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.metadata.cluster import make_image, make_partition, topic_records

from penstock.metadata.alter_partition import alter_partition
from penstock.metadata.broker_registration import register_in_cluster
from penstock.metadata.decommission import decommission_broker
from penstock.metadata.eligibility import with_eligibility
from penstock.metadata.features import supported_features
from penstock.metadata.fencing import begin_controlled_shutdown, fence, unfence, unregister_broker
from penstock.metadata.image import ClusterImage
from penstock.metadata.joining import join_cluster
from penstock.metadata.leader_election import elect_leaders
from penstock.metadata.leadership import partitions_of
from penstock.metadata.reassignment import alter_reassignments
from penstock.metadata.records import ConfigRecord, MetadataRecord
from penstock.metadata.replication_rules import settled_replica_count, topic_rules
from penstock.metadata.snapshot import image_fingerprint, snapshot_records
from penstock.metadata.upkeep import UpkeepRules, upkeep
from penstock.model.ids import NodeId, TopicId
from penstock.model.names import OFFSETS_TOPIC
from penstock.wire.messages.alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from penstock.wire.messages.broker_registration import BrokerRegistrationRequest, Feature
from penstock.wire.messages.decommission_broker import DecommissionBrokerRequest
from penstock.wire.messages.elect_leaders import ElectLeadersRequest
from penstock.wire.messages.join_cluster import JoinClusterRequest
from penstock.wire.messages.unregister_broker import UnregisterBrokerRequest

OFFSETS = TopicId(b"offsets" + bytes(9))
NUMBERS = st.integers(0, 9)
BROKERS_MAX = 6


class Controller(RuleBasedStateMachine):
    """Every rule is a decision, made on the image that all before it left."""

    def __init__(self) -> None:
        super().__init__()
        self.image = make_image(make_partition(), make_partition((2, 3)))
        self.image = self.image.apply(topic_records(OFFSETS_TOPIC, OFFSETS, [make_partition((1,))]))
        self.offset = 100
        self.processes = 0

    def append(self, records: tuple[MetadataRecord, ...]) -> None:
        before = self.image
        self.image = before.apply(records)
        self.offset += len(records)
        self.check_epochs(before)

    def some_broker(self, number: int) -> NodeId:
        return sorted(self.image.brokers)[number % len(self.image.brokers)]

    @precondition(lambda self: len(self.image.brokers) < BROKERS_MAX)
    @rule()
    def join(self) -> None:
        request = JoinClusterRequest(directory_id=self.offset.to_bytes(16, "big"), rack="r")
        result = join_cluster(
            self.image, request, cluster_id="c", voters={NodeId(1): b""}, next_offset=self.offset
        )
        self.append(result.records)

    @rule(number=NUMBERS, is_clean=st.booleans())
    def register(self, number: int, is_clean: bool) -> None:
        broker = self.image.brokers[self.some_broker(number)]
        self.processes += 1
        request = BrokerRegistrationRequest(
            broker_id=broker.node_id,
            cluster_id="c",
            incarnation_id=self.processes.to_bytes(16, "big"),
            features=tuple(
                Feature(
                    name=each.name,
                    min_supported_version=each.min_supported_version,
                    max_supported_version=each.max_supported_version,
                )
                for each in supported_features()
            ),
            rack=broker.rack,
            log_dirs=broker.directories,
            previous_broker_epoch=broker.epoch if is_clean else -1,
        )
        result = register_in_cluster(
            self.image, request, cluster_id="c", next_offset=self.offset, has_session=True
        )
        assert result.response.error_code == 0
        assert result.response.broker_epoch > broker.epoch
        self.append(result.records)

    @rule(number=NUMBERS)
    def let_in(self, number: int) -> None:
        node_id = self.some_broker(number)
        if self.image.brokers[node_id].is_fenced:
            self.append(unfence(self.image, node_id))

    @rule(numbers=st.lists(NUMBERS, min_size=1, max_size=3))
    def shut_out(self, numbers: list[int]) -> None:
        self.append(fence(self.image, *dict.fromkeys(map(self.some_broker, numbers))))

    @rule(number=NUMBERS)
    def stop(self, number: int) -> None:
        self.append(begin_controlled_shutdown(self.image, self.some_broker(number)))

    @rule(number=NUMBERS, cancel=st.booleans())
    def empty(self, number: int, cancel: bool) -> None:
        request = DecommissionBrokerRequest(broker_id=self.some_broker(number), is_cancelled=cancel)
        self.append(decommission_broker(self.image, request, voters=()).records)

    @precondition(lambda self: len(self.image.brokers) > 3)
    @rule(number=NUMBERS)
    def forget(self, number: int) -> None:
        broker_id = self.some_broker(number)
        self.append(fence(self.image, broker_id))
        self.append(unregister_broker(self.image, UnregisterBrokerRequest(broker_id=broker_id)).records)

    @rule(place=NUMBERS, members=st.lists(NUMBERS, max_size=4))
    def alter(self, place: int, members: list[int]) -> None:
        places = list(partitions_of(self.image))
        topic, index, partition = places[place % len(places)]
        broker = self.image.brokers.get(partition.leader)
        if broker is None:
            return
        chosen = {partition.replicas[number % len(partition.replicas)] for number in members}
        data = PartitionData(
            partition_index=index,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            new_isr_with_epochs=tuple(
                BrokerState(broker_id=each) for each in sorted({partition.leader, *chosen})
            ),
        )
        request = AlterPartitionRequest(
            broker_id=broker.node_id,
            broker_epoch=broker.epoch,
            topics=(TopicData(topic_id=topic.topic_id, partitions=(data,)),),
        )
        self.append(alter_partition(self.image, request).records)

    @rule(index=st.integers(0, 1), numbers=st.none() | st.lists(NUMBERS, min_size=1, max_size=3))
    def move(self, index: int, numbers: list[int] | None) -> None:
        target = None if numbers is None else tuple(dict.fromkeys(map(self.some_broker, numbers)))
        place = ReassignablePartition(partition_index=index, replicas=target)
        request = AlterPartitionReassignmentsRequest(
            topics=(ReassignableTopic(name="orders", partitions=(place,)),)
        )
        self.append(alter_reassignments(self.image, request).records)

    @rule(kind=st.integers(0, 1))
    def elect(self, kind: int) -> None:
        request = ElectLeadersRequest(election_type=kind, topic_partitions=None)
        self.append(elect_leaders(self.image, request).records)

    @rule(minimum=st.integers(1, 3))
    def set_minimum(self, minimum: int) -> None:
        record = ConfigRecord(
            resource_type=2, resource_name="orders", name="min.insync.replicas", value=str(minimum)
        )
        self.append(with_eligibility(self.image, [record]))

    @rule()
    def keep_up(self) -> None:
        self.append(upkeep(self.image, UpkeepRules(moves_max=2), voters=()))

    def check_epochs(self, before: ClusterImage) -> None:
        for place in partitions_of(self.image):
            old = before.topics[place.topic.name].partitions[place.partition_index]
            new = place.partition
            assert new.leader_epoch >= old.leader_epoch
            assert new.partition_epoch >= old.partition_epoch
            if new.leader != old.leader or set(old.replicas) - set(new.replicas):
                assert new.leader_epoch > old.leader_epoch
            if new != old:
                assert new.partition_epoch > old.partition_epoch

    @invariant()
    def partitions_make_sense(self) -> None:
        for topic, _, partition in partitions_of(self.image):
            replicas = set(partition.replicas)
            assert len(replicas) == len(partition.replicas) == len(partition.directories) > 0
            assert set(partition.isr) | set(partition.eligible_leader_replicas) <= replicas
            assert set(partition.isr).isdisjoint(partition.eligible_leader_replicas)
            assert {*partition.adding_replicas, *partition.removing_replicas} <= replicas
            assert partition.has_leader == bool(partition.isr)
            minimum = topic_rules(self.image, topic.name).min_isr(settled_replica_count(partition))
            if len(partition.isr) >= minimum:
                assert partition.eligible_leader_replicas == ()

    @invariant()
    def only_active_brokers_lead_and_are_in_sync(self) -> None:
        for place in partitions_of(self.image):
            assert place.partition.leader == -1 or place.partition.leader in place.partition.isr
            for node_id in place.partition.isr:
                assert self.image.brokers[node_id].is_active

    @invariant()
    def image_is_its_snapshot(self) -> None:
        rebuilt = ClusterImage().apply(snapshot_records(self.image))
        assert image_fingerprint(rebuilt) == image_fingerprint(self.image)
        assert rebuilt == self.image


TestController = pytest.mark.slow(Controller.TestCase)
TestController.settings = settings(max_examples=25, stateful_step_count=40, deadline=None)
