"""A whole cluster around one partition, in memory: brokers that crash, a network that loses, a controller.

Everything that decides is the real thing: the controller's functions over a cluster image, and the machines
of leaders and followers. What is modelled is what they stand on: logs, disks, messages and time. Every step
is chosen from outside, so a test can tell a story, and a search can try all of them. After each step
``check_invariants`` looks at everything at once, as nobody in a real cluster can.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tests.replication.epochs import history

from penstock.metadata.alter_partition import alter_partition
from penstock.metadata.broker_registration import register_in_cluster
from penstock.metadata.eligibility import with_eligibility
from penstock.metadata.features import supported_features
from penstock.metadata.fencing import begin_controlled_shutdown, fence, unfence
from penstock.metadata.image import ClusterImage
from penstock.metadata.leader_election import preferred_elections
from penstock.metadata.reassignment import move
from penstock.metadata.records import (
    ConfigRecord,
    MetadataRecord,
    PartitionRecord,
    TopicRecord,
)
from penstock.metadata.replication_rules import topic_rules
from penstock.metadata.topic_image import PartitionImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis, NodeId, Offset, TopicId
from penstock.replication.assignment import Assignment
from penstock.replication.divergence import diverging_epoch
from penstock.replication.follower_events import (
    AppendRecords,
    AskLeaderOffsets,
    FetchAnswered,
    FetchFailed,
    FetchFrom,
    FetchSent,
    LeaderOffsetsReceived,
    LogTruncated,
    RecordsAppended,
    StartAfresh,
    TruncateLog,
)
from penstock.replication.leader_events import (
    FollowerFetched,
    LocalLogFlushed,
    ProposalAnswered,
    ProposeIsr,
    PublishHighWatermark,
    TimePassed,
)
from penstock.replication.replica import (
    LogFacts,
    MetadataChanged,
    PartitionReplica,
    RejectWaiters,
    ReplicaSettings,
)
from penstock.storage.leader_epochs import LeaderEpochs
from penstock.wire.messages import alter_partition as wire
from penstock.wire.messages.broker_registration import BrokerRegistrationRequest, Feature

TOPIC = TopicId(b"t" * 16)
LAG = 1_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A record: what it says, and the leader epoch it was written in."""

    value: int
    epoch: int


@dataclass(slots=True, kw_only=True)
class Node:
    """One broker: its disk, and the process that runs on it, if one does."""

    node_id: NodeId
    log: list[Entry] = field(default_factory=list)
    flushed: int = 0
    high_watermark: int = 0
    broker_epoch: int = -1
    has_lost: bool = False
    # Of the process.
    is_alive: bool = True
    process: int = 0
    applied: int = 0
    image: ClusterImage = field(default_factory=ClusterImage)
    replica: PartitionReplica | None = None
    asked: FetchFrom | None = None
    waiting: list[tuple[int, int]] = field(default_factory=list)

    @property
    def partition(self) -> PartitionImage:
        """The partition, as far as this broker has heard."""
        return self.image.topics["t"].partitions[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """On its way to a process; a new process at that address does not get it."""

    to: NodeId
    process: int
    body: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAsked:
    """A follower's fetch."""

    sender: NodeId
    process: int
    broker_epoch: int
    position: FetchFrom


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The answer, with its records."""

    answer: FetchAnswered
    records: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrAsked:
    """A leader's proposal, on its way to the controller."""

    sender: NodeId
    process: int
    broker_epoch: int
    proposal: ProposeIsr


CONTROLLER = NodeId(0)


class Cluster:
    """Brokers 1 to ``count``; the first ``replication`` of them hold the partition, and the first leads."""

    def __init__(self, *, count: int = 3, replication: int = 3, minimum: int = 1) -> None:
        self.nodes = {NodeId(number): Node(node_id=NodeId(number)) for number in range(1, count + 1)}
        self.image = ClusterImage()
        self.metadata: list[tuple[MetadataRecord, ...]] = []
        self.network: list[Message] = []
        self.now = Millis(1_000_000)
        self.next_value = 0
        #: What any leader has ever shown to be committed, by offset.
        self.committed: list[int] = []
        self.acknowledged: set[int] = set()
        for node in self.nodes.values():
            self._register(node)
        for node in self.nodes.values():
            self._append(unfence(self.image, node.node_id))
        replicas = tuple(range(1, replication + 1))
        self._append(
            [
                TopicRecord(name="t", topic_id=TOPIC),
                _minimum(minimum),
                PartitionRecord(
                    partition_id=0,
                    topic_id=TOPIC,
                    replicas=replicas,
                    isr=replicas,
                    leader=1,
                    leader_epoch=0,
                    partition_epoch=0,
                    directories=tuple(bytes([number]) * 16 for number in replicas),
                ),
            ]
        )
        for node in self.nodes.values():
            self.apply_all(node.node_id)

    # What the controller does.

    @property
    def partition(self) -> PartitionImage:
        """The partition, as the controller has it."""
        return self.image.topics["t"].partitions[0]

    def fence(self, *node_ids: int) -> None:
        self._append(fence(self.image, *map(NodeId, node_ids)))

    def unfence(self, node_id: int) -> None:
        self._append(unfence(self.image, NodeId(node_id)))

    def begin_shutdown(self, node_id: int) -> None:
        self._append(begin_controlled_shutdown(self.image, NodeId(node_id)))

    def elect_preferred(self) -> None:
        self._append(preferred_elections(self.image, limit=1))

    def set_minimum(self, minimum: int) -> None:
        self._append(with_eligibility(self.image, [_minimum(minimum)]))

    def reassign(self, *replicas: int) -> None:
        record = move(self.image, self.image.topics["t"], 0, tuple(map(NodeId, replicas)))
        self._append([record] if record is not None else [])

    def _append(self, records: Iterable[MetadataRecord]) -> None:
        batch = tuple(records)
        if batch:
            self.metadata.append(batch)
            self.image = self.image.apply(batch)

    def _register(self, node: Node) -> None:
        request = BrokerRegistrationRequest(
            broker_id=node.node_id,
            cluster_id="c",
            incarnation_id=bytes([node.node_id, node.process % 256]) * 8,
            features=tuple(
                Feature(
                    name=each.name,
                    min_supported_version=each.min_supported_version,
                    max_supported_version=each.max_supported_version,
                )
                for each in supported_features()
            ),
            log_dirs=(bytes([node.node_id]) * 16,),
            previous_broker_epoch=-1 if node.has_lost else node.broker_epoch,
        )
        result = register_in_cluster(
            self.image,
            request,
            cluster_id="c",
            next_offset=sum(map(len, self.metadata)),
            has_session=False,
        )
        assert result.response.error_code == 0
        self._append(result.records)
        node.broker_epoch = result.response.broker_epoch
        node.has_lost = False

    # What brokers do.

    def apply_next(self, node_id: int) -> None:
        """A broker reads one more batch of the metadata log."""
        node = self.nodes[NodeId(node_id)]
        node.image = node.image.apply(self.metadata[node.applied])
        node.applied += 1
        if "t" in node.image.topics and node.image.topics["t"].partitions:
            self._follow_metadata(node)

    def apply_all(self, node_id: int) -> None:
        node = self.nodes[NodeId(node_id)]
        while node.applied < len(self.metadata):
            self.apply_next(node_id)

    def _follow_metadata(self, node: Node) -> None:
        partition = node.partition
        if node.node_id not in partition.replicas:
            node.log.clear()
            node.flushed = node.high_watermark = 0
            node.replica = None
            node.waiting.clear()
            return
        if node.replica is None:
            node.replica = PartitionReplica(
                node_id=node.node_id,
                history=_History(node),
                high_watermark=Offset(node.high_watermark),
                settings=ReplicaSettings(lag_max_ms=LAG, retry_ms=1),
            )
        rules = topic_rules(node.image, "t")
        event = MetadataChanged(
            assignment=Assignment(
                leader=partition.leader,
                leader_epoch=partition.leader_epoch,
                partition_epoch=partition.partition_epoch,
                replicas=partition.replicas,
                isr=partition.isr,
                adding=partition.adding_replicas,
                recovery_state=partition.leader_recovery_state,
                min_insync_replicas=rules.min_insync_replicas,
            ),
            broker_epochs={
                broker.node_id: broker.epoch for broker in node.image.brokers.values() if broker.is_active
            },
            log=LogFacts(log_start_offset=0, log_end_offset=len(node.log), flushed_offset=node.flushed),
            now=self.now,
        )
        self._obey(node, node.replica.handle(event))

    def produce(self, node_id: int, *, acks_all: bool = True) -> int | None:
        """A client writes one record to whoever takes itself for the leader; None if it is refused."""
        node = self.nodes[NodeId(node_id)]
        assert node.replica is not None
        assert node.replica.leader is not None
        if acks_all:
            try:
                node.replica.leader.check_enough_replicas()
            except ApiError:
                return None
        self.next_value += 1
        node.log.append(Entry(self.next_value, node.replica.leader.leader_epoch))
        if acks_all:
            node.waiting.append((len(node.log), self.next_value))
        return self.next_value

    def flush(self, node_id: int) -> None:
        """Everything in a broker's log gets on its disk."""
        node = self.nodes[NodeId(node_id)]
        node.flushed = len(node.log)
        machine = node.replica and (node.replica.leader or node.replica.follower)
        if machine:
            self._obey(node, machine.handle(LocalLogFlushed(end_offset=node.flushed)))

    def fetch(self, node_id: int) -> bool:
        """A follower asks its leader for more, if it may."""
        node = self.nodes[NodeId(node_id)]
        follower = node.replica and node.replica.follower
        position = follower.fetch_position(self.now) if follower else None
        if not follower or position is None:
            return False
        follower.handle(FetchSent(position=position))
        node.asked = position
        asked = FetchAsked(
            sender=node.node_id, process=node.process, broker_epoch=node.broker_epoch, position=position
        )
        self._send(follower.leader, asked)
        return True

    def time_out_fetch(self, node_id: int) -> None:
        """A follower gives up waiting; the answer may come all the same."""
        node = self.nodes[NodeId(node_id)]
        follower = node.replica and node.replica.follower
        if follower and node.asked is not None:
            self.now = Millis(self.now + 1)
            follower.handle(FetchFailed(asked=node.asked, now=Millis(self.now - 1)))

    def look_who_keeps_up(self, node_id: int) -> None:
        node = self.nodes[NodeId(node_id)]
        if node.replica and node.replica.leader:
            event = TimePassed(log_end_offset=len(node.log), now=self.now)
            self._obey(node, node.replica.leader.handle(event))

    def pass_time(self, ms: int = LAG + 1) -> None:
        self.now = Millis(self.now + ms)

    def crash(self, node_id: int, *, keeps_cache: bool = False, loses: int = 0) -> None:
        """A broker dies: what was not flushed is gone, or not; a bad disk loses more, and says so."""
        node = self.nodes[NodeId(node_id)]
        node.is_alive = False
        kept = len(node.log) if keeps_cache else node.flushed
        del node.log[max(0, kept - loses) :]
        node.has_lost = node.has_lost or (loses > 0 and kept > 0)
        if node.replica is not None:
            node.high_watermark = node.replica.high_watermark
        node.replica = None
        node.waiting.clear()

    def restart(self, node_id: int) -> None:
        """A broker starts: it reads the metadata log, registers, and what its disk has is on disk."""
        node = self.nodes[NodeId(node_id)]
        node.is_alive = True
        node.process += 1
        node.flushed = len(node.log)
        node.high_watermark = min(node.high_watermark, node.flushed)
        node.image = self.image
        node.applied = len(self.metadata)
        self._register(node)

    # The network.

    def deliver(self, index: int = 0, *, keep_copy: bool = False) -> None:
        """One message arrives; a copy of it may come again."""
        message = self.network[index] if keep_copy else self.network.pop(index)
        if message.to == CONTROLLER:
            self._controller_receives(message.body)
            return
        node = self.nodes[message.to]
        if not node.is_alive or node.process != message.process:
            return
        match message.body:
            case FetchAsked():
                self._leader_receives(node, message.body)
            case Fetched():
                self._follower_receives(node, message.body)
            case ProposalAnswered() if node.replica and node.replica.leader:
                self._obey(node, node.replica.leader.handle(message.body))

    def drop(self, index: int = 0) -> None:
        """One message is lost; a leader that proposed something learns that no answer came."""
        message = self.network.pop(index)
        if isinstance(message.body, IsrAsked):
            self._answer(message.body, ErrorCode.REQUEST_TIMED_OUT)
        elif isinstance(message.body, ProposalAnswered):
            lost = replace(message.body, error_code=ErrorCode.REQUEST_TIMED_OUT)
            self.network.append(replace(message, body=lost))

    def deliver_all(self) -> None:
        """Everything arrives in order, until there is silence."""
        while self.network:
            self.deliver()

    def settle(self, rounds: int = 4) -> None:
        """Peace: every living broker hears everything, fetches and flushes."""
        for _ in range(rounds):
            for node_id, node in self.nodes.items():
                if node.is_alive:
                    self.apply_all(node_id)
                    self.flush(node_id)
                    self.fetch(node_id)
            self.deliver_all()

    def _send(self, to: NodeId, body: object) -> None:
        process = self.nodes[to].process if to in self.nodes else 0
        self.network.append(Message(to=to, process=process, body=body))

    def _reply(self, asked: FetchAsked, answer: FetchAnswered, records: tuple[Entry, ...] = ()) -> None:
        body = Fetched(answer=answer, records=records)
        self.network.append(Message(to=asked.sender, process=asked.process, body=body))

    def _leader_receives(self, node: Node, asked: FetchAsked) -> None:
        position, end = asked.position, len(node.log)
        answer = FetchAnswered(asked=position, now=self.now)
        leader = node.replica and node.replica.leader
        if not leader:
            self._reply(asked, replace(answer, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER))
            return
        try:
            leader.check_fetch(asked.sender, current_leader_epoch=position.current_leader_epoch)
            diverging = diverging_epoch(
                _History(node),
                log_end_offset=end,
                fetch_offset=position.offset,
                last_fetched_epoch=position.last_fetched_epoch,
            )
            if diverging is not None:
                self._reply(asked, replace(answer, diverging=diverging))
                return
            event = FollowerFetched(
                node_id=asked.sender,
                broker_epoch=asked.broker_epoch,
                fetch_offset=position.offset,
                log_end_offset=end,
                now=self.now,
            )
            self._obey(node, leader.handle(event))
        except ApiError as error:
            self._reply(asked, replace(answer, error_code=error.code))
            return
        records = tuple(node.log[position.offset :])
        fetched = replace(
            answer,
            high_watermark=leader.high_watermark,
            log_start_offset=0,
            records_end_offset=position.offset + len(records) if records else None,
        )
        self._reply(asked, fetched, records)

    def _follower_receives(self, node: Node, fetched: Fetched) -> None:
        follower = node.replica and node.replica.follower
        if not follower:
            return
        for effect in follower.handle(fetched.answer):
            match effect:
                case AppendRecords():
                    node.log.extend(fetched.records)
                    follower.handle(RecordsAppended(end_offset=len(node.log)))
                case TruncateLog() | StartAfresh():
                    del node.log[effect.offset :]
                    node.flushed = len(node.log)
                    follower.handle(LogTruncated(log_start_offset=0, end_offset=len(node.log)))
                case AskLeaderOffsets():
                    self._ask_offsets(node, fetched.answer.asked)

    def _ask_offsets(self, node: Node, asked: FetchFrom) -> None:
        follower = node.replica and node.replica.follower
        assert follower
        leader = self.nodes[follower.leader]
        machine = leader.replica and leader.replica.leader
        if not machine or machine.leader_epoch != follower.leader_epoch:
            follower.handle(FetchFailed(asked=asked, now=self.now))
            return
        event = LeaderOffsetsReceived(asked=asked, log_start_offset=0, log_end_offset=len(leader.log))
        for effect in follower.handle(event):
            assert isinstance(effect, TruncateLog)
            del node.log[effect.offset :]
            node.flushed = len(node.log)
            follower.handle(LogTruncated(log_start_offset=0, end_offset=len(node.log)))

    def _controller_receives(self, asked: IsrAsked) -> None:
        partition = wire.PartitionData(
            partition_index=0,
            leader_epoch=asked.proposal.leader_epoch,
            partition_epoch=asked.proposal.partition_epoch,
            leader_recovery_state=asked.proposal.recovery_state,
            new_isr_with_epochs=tuple(
                wire.BrokerState(broker_id=node_id, broker_epoch=epoch)
                for node_id, epoch in asked.proposal.members
            ),
        )
        request = wire.AlterPartitionRequest(
            broker_id=asked.sender,
            broker_epoch=asked.broker_epoch,
            topics=(wire.TopicData(topic_id=TOPIC, partitions=(partition,)),),
        )
        result = alter_partition(self.image, request)
        self._append(result.records)
        code = result.response.error_code
        if not code:
            code = result.response.topics[0].partitions[0].error_code
        self._answer(asked, ErrorCode(code))

    def _answer(self, asked: IsrAsked, error: ErrorCode) -> None:
        body = ProposalAnswered(proposal=asked.proposal, error_code=error)
        self.network.append(Message(to=asked.sender, process=asked.process, body=body))

    def _obey(self, node: Node, effects: Iterable[object]) -> None:
        for effect in effects:
            match effect:
                case ProposeIsr():
                    asked = IsrAsked(
                        sender=node.node_id,
                        process=node.process,
                        broker_epoch=node.broker_epoch,
                        proposal=effect,
                    )
                    self._send(CONTROLLER, asked)
                case PublishHighWatermark() if node.replica and node.replica.leader:
                    self._commit(node, effect.offset)
                case RejectWaiters():
                    node.waiting.clear()

    def _commit(self, node: Node, offset: int) -> None:
        """A leader shows its high watermark: what lies below must never be anything else."""
        shown = [entry.value for entry in node.log[:offset]]
        known = self.committed[:offset]
        assert shown[: len(known)] == known, f"broker {node.node_id} shows {shown}, before it was {known}"
        self.committed += shown[len(known) :]
        self.acknowledged |= {value for end, value in node.waiting if end <= offset}
        node.waiting = [(end, value) for end, value in node.waiting if end > offset]

    # What must hold at any time.

    def check_invariants(self) -> None:
        """Everything at once; reliability's invariants I3 to I9."""
        assert self.acknowledged <= set(self.committed), "an acknowledged record is not committed"
        self._check_leader_has_everything()
        self._check_candidates_have_everything()
        self._check_leader_counts_all_candidates()
        self._check_logs_agree()

    def _values(self, node: Node) -> list[int]:
        return [entry.value for entry in node.log]

    def _check_leader_has_everything(self) -> None:
        if not self.partition.has_leader:
            return
        node = self.nodes[self.partition.leader]
        if node.is_alive and self.image.brokers[node.node_id].epoch == node.broker_epoch:
            held = self._values(node)[: len(self.committed)]
            assert held == self.committed, f"leader {node.node_id} has {held} of {self.committed}"

    def _check_candidates_have_everything(self) -> None:
        for node_id in (*self.partition.isr, *self.partition.eligible_leader_replicas):
            node = self.nodes[node_id]
            if node.has_lost:
                continue  # It will say so before it is counted on again.
            durable = self._values(node)[: node.flushed][: len(self.committed)]
            assert durable == self.committed, f"candidate {node_id} has {durable} of {self.committed}"

    def _check_leader_counts_all_candidates(self) -> None:
        for node in self.nodes.values():
            leader = node.replica and node.replica.leader
            if not leader or leader.leader_epoch != self.partition.leader_epoch:
                continue
            if len(leader.isr) >= leader.min_insync_replicas:
                candidates = {*self.partition.isr, *self.partition.eligible_leader_replicas}
                assert candidates <= set(leader.maximal_isr), f"leader {node.node_id} does not count all"

    def _check_logs_agree(self) -> None:
        for node in self.nodes.values():
            if node.replica is not None:
                end = node.replica.high_watermark
                shown = self._values(node)[:end]
                assert shown == self.committed[:end], f"broker {node.node_id} shows {shown}"


class _History:
    """The epochs of a broker's log as it is now."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def epoch_at(self, offset: int) -> int:
        return self._epochs().epoch_at(offset)

    def end_of(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        return self._epochs().end_of(epoch, log_end_offset)

    def _epochs(self) -> LeaderEpochs:
        """The real cache of a log, filled as its recovery would fill it."""
        starts: dict[int, int] = {}
        for offset, entry in enumerate(self._node.log):
            starts.setdefault(entry.epoch, offset)
        return history(*starts.items())


def _minimum(minimum: int) -> ConfigRecord:
    return ConfigRecord(resource_type=2, resource_name="t", name="min.insync.replicas", value=str(minimum))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something that could happen next, and how often it should, beside everything else."""

    name: str
    do: Callable[[], object]
    weight: int = 1


def possible_steps(cluster: Cluster) -> list[Step]:
    """Everything that could happen next; what a cluster does all day is more likely than what breaks it."""
    steps = [
        Step(name="time passes", do=cluster.pass_time, weight=2),
        Step(name="elect preferred", do=cluster.elect_preferred),
    ]
    for minimum in (1, 2, 3):
        steps.append(Step(name=f"minimum becomes {minimum}", do=partial(cluster.set_minimum, minimum)))
    for replicas in ((1, 2, 3), (2, 3, 4), (4, 1), (3,)):
        if set(replicas) <= set(cluster.nodes):
            steps.append(Step(name=f"move to {replicas}", do=partial(cluster.reassign, *replicas)))
    for node in cluster.nodes.values():
        steps += _steps_of_a_living(cluster, node) if node.is_alive else _steps_of_a_dead(cluster, node)
    for index, message in enumerate(cluster.network):
        steps += _steps_of_a_message(cluster, index, type(message.body).__name__)
    return steps


def _steps_of_a_message(cluster: Cluster, index: int, kind: str) -> list[Step]:
    copy = partial(cluster.deliver, index, keep_copy=True)
    return [
        Step(name=f"deliver {kind}", do=partial(cluster.deliver, index), weight=20),
        Step(name=f"deliver {kind}, keep a copy", do=copy),
        Step(name=f"drop {kind}", do=partial(cluster.drop, index)),
    ]


def _steps_of_a_dead(cluster: Cluster, node: Node) -> list[Step]:
    id = node.node_id
    steps = [Step(name=f"{id} starts", do=partial(cluster.restart, id), weight=4)]
    if not cluster.image.brokers[id].is_fenced:
        steps.append(Step(name=f"{id} is fenced", do=partial(cluster.fence, id), weight=8))
    return steps


def _steps_of_a_living(cluster: Cluster, node: Node) -> list[Step]:
    id, registered = node.node_id, cluster.image.brokers[node.node_id]
    steps = [
        Step(name=f"{id} is killed", do=partial(cluster.crash, id, keeps_cache=True)),
        Step(name=f"{id} loses power", do=partial(cluster.crash, id)),
        Step(name=f"{id} dies with a bad disk", do=partial(cluster.crash, id, loses=2)),
    ]
    if registered.is_fenced:
        steps.append(Step(name=f"{id} is let in", do=partial(cluster.unfence, id), weight=20))
    else:
        steps.append(Step(name=f"{id} is fenced", do=partial(cluster.fence, id)))
        steps.append(Step(name=f"{id} wants to stop", do=partial(cluster.begin_shutdown, id)))
    if node.applied < len(cluster.metadata):
        steps.append(Step(name=f"{id} reads metadata", do=partial(cluster.apply_next, id), weight=30))
    if len(node.log) > node.flushed:
        steps.append(Step(name=f"{id} flushes", do=partial(cluster.flush, id), weight=25))
    if node.replica is not None:
        steps += _steps_of_a_replica(cluster, id, node.replica)
    return steps


def _steps_of_a_replica(cluster: Cluster, id: NodeId, replica: PartitionReplica) -> list[Step]:
    steps = []
    if replica.leader is not None:
        steps += [
            Step(name=f"produce to {id}", do=partial(cluster.produce, id), weight=12),
            Step(name=f"produce to {id}, acks=1", do=partial(cluster.produce, id, acks_all=False), weight=2),
            Step(name=f"{id} looks who keeps up", do=partial(cluster.look_who_keeps_up, id), weight=4),
        ]
    if replica.follower is not None:
        steps.append(Step(name=f"{id} gives up its fetch", do=partial(cluster.time_out_fetch, id)))
        if replica.follower.fetch_position(cluster.now) is not None:
            steps.append(Step(name=f"{id} fetches", do=partial(cluster.fetch, id), weight=30))
    return steps
