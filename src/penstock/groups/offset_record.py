"""How an offset is decided on and written down, whichever API it comes by."""

from dataclasses import dataclass

from penstock.coordinator.outcome import CoordinatorRecord
from penstock.groups.group import PartitionRule
from penstock.groups.group_record import encoded
from penstock.groups.records import NO_EXPIRY, OffsetCommitKey, OffsetCommitRecord, OffsetCommitValue
from penstock.groups.shard_state import ShardState
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.model.ids import Millis, TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedOffset:
    """One offset that a request wants to commit."""

    #: None if the request named a topic id that nobody has.
    topic: str | None
    partition: int
    offset: int
    leader_epoch: int
    metadata: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDecision:
    """The circumstances of a commit, which are the same for all offsets of a request."""

    state: ShardState
    group_id: str
    #: Why the group takes no offsets of this committer; NONE if it does.
    refusal: ErrorCode
    now: Millis
    #: What the group says to single partitions, if it makes a difference.
    rule: PartitionRule | None = None
    expire_timestamp: int = NO_EXPIRY

    def code(self, wanted: WantedOffset) -> ErrorCode:
        """Why an offset cannot be committed: NONE if it can."""
        if wanted.topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        if not self.state.topics.has_partition(wanted.topic, wanted.partition):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if self.refusal is not ErrorCode.NONE:
            return self.refusal
        partition = TopicPartition(wanted.topic, wanted.partition)
        if self.rule is not None and (code := self.rule(partition)) is not ErrorCode.NONE:
            return code
        if len(wanted.metadata.encode()) > self.state.context.settings.offset_metadata_max_bytes:
            return ErrorCode.OFFSET_METADATA_TOO_LARGE
        return ErrorCode.NONE

    def record(self, wanted: WantedOffset) -> CoordinatorRecord:
        """The record that commits an offset."""
        if wanted.topic is None:
            raise InvariantError(f"an offset of group {self.group_id!r} has no topic")
        value = OffsetCommitValue(
            offset=wanted.offset,
            leader_epoch=wanted.leader_epoch,
            metadata=wanted.metadata,
            commit_timestamp=self.now,
            expire_timestamp=self.expire_timestamp,
            topic_id=self.state.topics.id_of(wanted.topic),
        )
        return _record(self.group_id, TopicPartition(wanted.topic, wanted.partition), value)


def offset_tombstone(group_id: str, partition: TopicPartition) -> CoordinatorRecord:
    """A group's offset is forgotten."""
    return _record(group_id, partition, None)


def _record(group_id: str, partition: TopicPartition, value: OffsetCommitValue | None) -> CoordinatorRecord:
    key = OffsetCommitKey(group_id=group_id, topic=partition.topic, partition=partition.partition)
    return encoded(OffsetCommitRecord(key=key, value=value))
