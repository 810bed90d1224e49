"""Random commits, inside and outside of transactions, deletions, expiry and crashes against a model.

The model is a table of what a reader of the log would say: the newest committed offset of each partition,
newest by its place in the log. The shell checks invariants, and that a shadow fed by the log alone agrees.
"""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.groups.actors import Actor, stable_group
from tests.groups.shell import Shell

from penstock.groups.records import OffsetCommitRecord
from penstock.groups.settings import GroupSettings
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.messages.delete_groups import DeleteGroupsRequest
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

MEMBERS, SIMPLE = "with-members", "simple"
PARTITIONS = (TopicPartition("orders", 0), TopicPartition("payments", 1))

groups = st.sampled_from([MEMBERS, SIMPLE])
partitions = st.sampled_from(PARTITIONS)
producers = st.integers(0, 1)


@dataclass
class Model:
    """The log read from the beginning, the simple way."""

    #: Offset and place in the log.
    committed: dict[tuple[str, TopicPartition], tuple[int, int]] = field(default_factory=dict)
    pending: dict[int, dict[tuple[str, TopicPartition], tuple[int, int]]] = field(default_factory=dict)
    read_until: int = 0

    def read(self, shell: Shell) -> None:
        records = iter(shell.records()[self._records_read(shell) :])
        for place in range(self.read_until, len(shell.log)):
            logged = shell.log[place]
            producer_id = None if logged.producer is None else logged.producer.producer_id
            if logged.record is None:
                assert producer_id is not None
                self._end(producer_id, logged.is_commit)
                continue
            record = next(records)
            if isinstance(record, OffsetCommitRecord):
                self._take(record, place, producer_id)
        self.read_until = len(shell.log)

    def unstable(self, group: str, partition: TopicPartition) -> bool:
        return any((group, partition) in pending for pending in self.pending.values())

    def _records_read(self, shell: Shell) -> int:
        return sum(logged.record is not None for logged in shell.log[: self.read_until])

    def _take(self, record: OffsetCommitRecord, place: int, producer_id: int | None) -> None:
        key = (record.key.group_id, TopicPartition(record.key.topic, record.key.partition))
        if record.value is None:
            self.committed.pop(key, None)
            for pending in self.pending.values():
                pending.pop(key, None)
        elif producer_id is None:
            self.committed[key] = (record.value.offset, place)
        else:
            self.pending.setdefault(producer_id, {})[key] = (record.value.offset, place)

    def _end(self, producer_id: int, is_commit: bool) -> None:
        for key, (offset, place) in self.pending.pop(producer_id, {}).items():
            if is_commit and place > self.committed.get(key, (0, -1))[1]:
                self.committed[key] = (offset, place)


class OffsetMachine(RuleBasedStateMachine):
    """A group with a member that comes and goes, and one that only has offsets."""

    @initialize(retention_minutes=st.sampled_from([1, 10]))
    def begin(self, retention_minutes: int) -> None:
        self.shell = Shell(
            settings=GroupSettings(
                offsets_retention_minutes=retention_minutes, offsets_retention_check_interval_ms=20_000
            )
        )
        self.model = Model()
        self.member = Actor(self.shell, "ann", group=MEMBERS, session_ms=60_000)
        stable_group(self.shell, self.member)

    @rule(partition=partitions, offset=st.integers(0, 99))
    def commit_as_member(self, partition: TopicPartition, offset: int) -> None:
        self.member.commit(offset, topic=partition.topic, partition=partition.partition)

    @rule(
        group=groups, partition=partitions, offset=st.integers(0, 99), retention=st.sampled_from([-1, 9_000])
    )
    def commit_from_outside(self, group: str, partition: TopicPartition, offset: int, retention: int) -> None:
        wanted = OffsetCommitRequestPartition(partition_index=partition.partition, committed_offset=offset)
        topic = OffsetCommitRequestTopic(name=partition.topic, partitions=(wanted,))
        request = OffsetCommitRequest(group_id=group, retention_time_ms=retention, topics=(topic,))
        self.shell.send(request, version=4)

    @rule(group=groups, producer_id=producers, partition=partitions, offset=st.integers(0, 99))
    def commit_in_a_transaction(
        self, group: str, producer_id: int, partition: TopicPartition, offset: int
    ) -> None:
        wanted = TxnOffsetCommitRequestPartition(partition_index=partition.partition, committed_offset=offset)
        topic = TxnOffsetCommitRequestTopic(name=partition.topic, partitions=(wanted,))
        request = TxnOffsetCommitRequest(
            transactional_id="copy", group_id=group, producer_id=producer_id, topics=(topic,)
        )
        self.shell.send(request, version=3)

    @rule(producer_id=producers, partition=partitions, is_first=st.booleans())
    def commit_inside_and_outside(self, producer_id: int, partition: TopicPartition, is_first: bool) -> None:
        """The same offset in and out of a transaction, in either order."""
        if is_first:
            self.commit_in_a_transaction(SIMPLE, producer_id, partition, 100)
        self.commit_from_outside(SIMPLE, partition, 101, -1)
        if not is_first:
            self.commit_in_a_transaction(SIMPLE, producer_id, partition, 102)

    @rule(producer_id=producers, is_commit=st.booleans())
    def end_transaction(self, producer_id: int, is_commit: bool) -> None:
        self.shell.end_transaction(producer_id, is_commit=is_commit)

    @rule(group=groups, partition=partitions)
    def delete_offset(self, group: str, partition: TopicPartition) -> None:
        wanted = OffsetDeleteRequestPartition(partition_index=partition.partition)
        topic = OffsetDeleteRequestTopic(name=partition.topic, partitions=(wanted,))
        self.shell.send(OffsetDeleteRequest(group_id=group, topics=(topic,)), version=0)

    @rule()
    def delete_groups(self) -> None:
        self.shell.send(DeleteGroupsRequest(groups_names=(MEMBERS, SIMPLE, SIMPLE)), version=2)

    @rule(topic=st.sampled_from(["orders", "payments"]))
    def delete_topic(self, topic: str) -> None:
        self.shell.delete_topics(topic)

    @rule()
    def member_leaves(self) -> None:
        self.member.leave()

    @rule()
    def member_comes_back(self) -> None:
        self.member.member_id = ""
        self.member.join()
        self.shell.wait(3_000)
        if self.member.is_answered and self.member.joined().error_code == ErrorCode.NONE:
            self.member.sync({self.member.member_id: b"all"})

    @rule(duration_ms=st.sampled_from([1_000, 20_000, 70_000, 700_000]))
    def wait(self, duration_ms: int) -> None:
        self.shell.wait(duration_ms)

    @rule()
    def crash(self) -> None:
        self.shell.crash()

    @invariant()
    def offsets_are_what_the_log_says(self) -> None:
        self.model.read(self.shell)
        for group in (MEMBERS, SIMPLE):
            for partition in PARTITIONS:
                offset, code = self._fetch(group, partition)
                if self.model.unstable(group, partition):
                    assert (offset, code) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
                else:
                    expected = self.model.committed.get((group, partition), (-1, -1))[0]
                    assert (offset, code) == (expected, ErrorCode.NONE)

    def _fetch(self, group: str, partition: TopicPartition) -> tuple[int, int]:
        topic = OffsetFetchRequestTopic(name=partition.topic, partition_indexes=(partition.partition,))
        request = OffsetFetchRequest(group_id=group, topics=(topic,), require_stable=True)
        response = self.shell.ask(OffsetFetchResponse, request, version=7)
        (answered,) = response.topics[0].partitions
        return answered.committed_offset, answered.error_code


OffsetMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestOffsets = pytest.mark.slow(OffsetMachine.TestCase)
