"""Clients that speak the consumer protocol, as tests speak of them."""

from dataclasses import dataclass, field

from tests.groups.actors import GROUP
from tests.groups.shell import Shell

from penstock.groups.consumer.consumer_group import ConsumerGroup
from penstock.groups.consumer.ledger import Ledger
from penstock.groups.partitions import Partitions, TopicIdPartition, by_topic, flatten
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.consumer_group_heartbeat import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)

LOST = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH}
"""What a client gives up everything for, to join again."""


def topics_of(partitions: Partitions) -> tuple[TopicPartitions, ...]:
    return tuple(TopicPartitions(topic_id=each, partitions=of) for each, of in by_topic(partitions))


@dataclass
class Modern:
    """A consumer that sends heartbeats when told, and does what their answers say."""

    shell: Shell
    member_id: str
    instance: str | None = None
    group: str = GROUP
    version: int = 1
    topics: tuple[str, ...] | None = ("orders",)
    pattern: str | None = None
    assignor: str | None = None
    rebalance_ms: int = 60_000
    epoch: int = JOIN_EPOCH
    owned: set[TopicIdPartition] = field(default_factory=set)
    #: The last answer did not come: the next request says everything.
    is_unsure: bool = True
    #: What it told the coordinator last.
    told: frozenset[TopicIdPartition] = frozenset()
    last: ConsumerGroupHeartbeatResponse = field(default_factory=ConsumerGroupHeartbeatResponse)

    def request(self) -> ConsumerGroupHeartbeatRequest:
        """What it would send now: everything when it is unsure, else what has changed."""
        owned = frozenset(self.owned)
        is_full = self.is_unsure or self.epoch == JOIN_EPOCH
        return ConsumerGroupHeartbeatRequest(
            group_id=self.group,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=self.instance,
            rebalance_timeout_ms=self.rebalance_ms if is_full else -1,
            subscribed_topic_names=self.topics if is_full else None,
            subscribed_topic_regex=self.pattern if is_full else None,
            server_assignor=self.assignor if is_full else None,
            topic_partitions=topics_of(owned) if is_full or owned != self.told else None,
        )

    def ask(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
        """Send a request, whatever the answer means."""
        response = self.shell.ask(
            ConsumerGroupHeartbeatResponse, request, version=self.version, client=self.member_id
        )
        self.last = response
        return response

    def beat(self, *, is_lost: bool = False) -> int:
        """Send a heartbeat and do what the answer says, unless it is lost; returns its error code."""
        request = self.request()
        response = self.ask(request)
        if is_lost:
            self.is_unsure = True
            return ErrorCode.NONE
        self.is_unsure = response.error_code != ErrorCode.NONE
        if request.topic_partitions is not None:
            self.told = flatten(request.topic_partitions)
        if response.error_code in LOST:
            self.forget()
        elif response.error_code == ErrorCode.NONE:
            self._follow(response)
        return response.error_code

    def settle(self, count: int = 6) -> None:
        """Send heartbeats until nothing can change any more."""
        for _ in range(count):
            self.beat()

    def forget(self) -> None:
        """Give up everything, and join anew next time."""
        self.epoch = JOIN_EPOCH
        self.owned.clear()
        self.told = frozenset()
        self.is_unsure = True

    def leave(self) -> int:
        """Go for good; returns the error code."""
        return self._go(LEAVE_EPOCH)

    def go_away(self) -> int:
        """Go, to come back under the same instance id; returns the error code."""
        return self._go(STATIC_LEAVE_EPOCH)

    def commit(
        self,
        offset: int,
        *,
        epoch: int | None = None,
        partition: int = 0,
        version: int = 9,
        topic: str = "orders",
    ) -> int:
        """Commit an offset; returns its error code."""
        request = OffsetCommitRequest(
            group_id=self.group,
            generation_id_or_member_epoch=self.epoch if epoch is None else epoch,
            member_id=self.member_id,
            group_instance_id=self.instance,
            topics=(
                OffsetCommitRequestTopic(
                    name="orders",
                    partitions=(
                        OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset),
                    ),
                ),
            ),
        )
        response = self.shell.ask(OffsetCommitResponse, request, version=version)
        return response.topics[0].partitions[0].error_code

    def numbers(self) -> list[int]:
        """The numbers of the partitions it owns."""
        return sorted(each.partition for each in self.owned)

    def _follow(self, response: ConsumerGroupHeartbeatResponse) -> None:
        self.epoch = response.member_epoch
        self.member_id = response.member_id or self.member_id
        if response.assignment is not None:
            self.owned = set(flatten(response.assignment.topic_partitions))

    def _go(self, epoch: int) -> int:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group, member_id=self.member_id, member_epoch=epoch, instance_id=self.instance
        )
        code = self.ask(request).error_code
        self.forget()
        return code


def ledger_of(shell: Shell, group: str = GROUP) -> Ledger:
    found = shell.shard._state.groups[group]
    assert isinstance(found, ConsumerGroup)
    return found.ledger


def settle(*members: Modern, rounds: int = 6) -> None:
    """Let all of them send heartbeats in turn until everything has come to rest."""
    for _ in range(rounds):
        for member in members:
            member.beat()
