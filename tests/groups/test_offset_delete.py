import pytest
from tests.groups.actors import GROUP, Actor, stable_group
from tests.groups.shell import Shell

from penstock.groups.records import OffsetCommitRecord
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.join_group import JoinGroupRequestProtocol
from penstock.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)


@pytest.fixture
def shell() -> Shell:
    return Shell()


def delete(shell: Shell, topic: str, *partitions: int, group: str = GROUP) -> OffsetDeleteResponse:
    wanted = tuple(OffsetDeleteRequestPartition(partition_index=index) for index in partitions)
    request = OffsetDeleteRequest(
        group_id=group, topics=(OffsetDeleteRequestTopic(name=topic, partitions=wanted),)
    )
    return shell.ask(OffsetDeleteResponse, request, version=0)


def codes(response: OffsetDeleteResponse) -> list[int]:
    return [partition.error_code for topic in response.topics for partition in topic.partitions]


def tombstones(shell: Shell) -> list[tuple[str, int]]:
    return [
        (record.key.topic, record.key.partition)
        for record in shell.records()
        if isinstance(record, OffsetCommitRecord) and record.value is None
    ]


def test_offsets_of_topics_that_nobody_reads_are_forgotten(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.commit(1, topic="payments", partition=0)
    assert codes(delete(shell, "payments", 0)) == [ErrorCode.NONE]
    assert tombstones(shell) == [("payments", 0)]


def test_offsets_of_topics_that_a_member_reads_are_kept(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.commit(1)
    response = delete(shell, "orders", 0, 1)
    assert response.error_code == ErrorCode.NONE
    assert codes(response) == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC] * 2
    assert tombstones(shell) == []


def test_all_offsets_can_be_forgotten_when_the_members_have_left(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.commit(1)
    ann.leave()
    assert codes(delete(shell, "orders", 0)) == [ErrorCode.NONE]


def test_subscription_nobody_can_read_may_mean_any_topic(shell: Shell) -> None:
    garbage = (JoinGroupRequestProtocol(name="range", metadata=b"?"),)
    ann = Actor(shell, "ann", protocols=garbage)
    stable_group(shell, ann)
    ann.commit(1, topic="payments")
    assert codes(delete(shell, "payments", 0)) == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC]


def test_group_of_another_protocol_type_must_have_no_members(shell: Shell) -> None:
    worker = Actor(shell, "worker", protocol_type="connect")
    stable_group(shell, worker)
    worker.commit(1)
    assert delete(shell, "orders", 0).error_code == ErrorCode.NON_EMPTY_GROUP
    worker.leave()
    assert codes(delete(shell, "orders", 0)) == [ErrorCode.NONE]


def test_unknown_group_and_empty_id_are_refused(shell: Shell) -> None:
    assert delete(shell, "orders", 0, group="nobody").error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert delete(shell, "orders", 0, group="").error_code == ErrorCode.INVALID_GROUP_ID


def test_partition_that_does_not_exist_is_unknown(shell: Shell) -> None:
    stable_group(shell, Actor(shell, "ann"))
    assert codes(delete(shell, "payments", 2)) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_offset_that_is_not_there_is_forgotten_without_a_record(shell: Shell) -> None:
    stable_group(shell, Actor(shell, "ann"))
    assert codes(delete(shell, "payments", 1, 1)) == [ErrorCode.NONE] * 2
    assert tombstones(shell) == []
