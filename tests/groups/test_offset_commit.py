import pytest
from tests.groups.actors import GROUP, Actor, finish_round, stable_group
from tests.groups.shell import TOPICS, Shell

from penstock.groups.records import OffsetCommitRecord, OffsetCommitValue
from penstock.groups.settings import GroupSettings
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import ZERO_TOPIC_ID, TopicId
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)


def request_of(
    offset: int = 5,
    *,
    group: str = GROUP,
    generation: int = -1,
    member_id: str = "",
    instance: str | None = None,
    topic: str = "orders",
    topic_id: TopicId = ZERO_TOPIC_ID,
    partition: int = 0,
    metadata: str | None = "",
    retention_ms: int = -1,
) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member_id,
        group_instance_id=instance,
        retention_time_ms=retention_ms,
        topics=(
            OffsetCommitRequestTopic(
                name=topic,
                topic_id=topic_id,
                partitions=(
                    OffsetCommitRequestPartition(
                        partition_index=partition,
                        committed_offset=offset,
                        committed_leader_epoch=3,
                        committed_metadata=metadata,
                    ),
                ),
            ),
        ),
    )


def commit(shell: Shell, request: OffsetCommitRequest, *, version: int = 8) -> int:
    response = shell.ask(OffsetCommitResponse, request, version=version)
    return response.topics[0].partitions[0].error_code


def last_value(shell: Shell) -> OffsetCommitValue:
    record = shell.records()[-1]
    assert isinstance(record, OffsetCommitRecord)
    assert record.value is not None
    return record.value


@pytest.fixture
def shell() -> Shell:
    return Shell()


@pytest.fixture
def ann(shell: Shell) -> Actor:
    actor = Actor(shell, "ann")
    stable_group(shell, actor)
    return actor


def test_commit_writes_offset_epoch_metadata_time_and_topic(shell: Shell) -> None:
    assert commit(shell, request_of(5, metadata="by hand")) == ErrorCode.NONE
    assert last_value(shell) == OffsetCommitValue(
        offset=5,
        leader_epoch=3,
        metadata="by hand",
        commit_timestamp=shell.now,
        topic_id=TOPICS.id_of("orders"),
    )


def test_commit_without_generation_makes_a_group_that_only_has_offsets(shell: Shell) -> None:
    assert shell.shard.group_count == 0
    assert commit(shell, request_of(5)) == ErrorCode.NONE
    assert shell.shard.group_count == 1


@pytest.mark.parametrize(
    ("version", "code"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_commit_with_a_generation_to_an_unknown_group_is_refused(
    shell: Shell, version: int, code: ErrorCode
) -> None:
    assert commit(shell, request_of(generation=1, member_id="ann"), version=version) == code
    assert shell.log == []


def test_commit_to_the_empty_group_id_is_taken_as_it_always_was(shell: Shell) -> None:
    assert commit(shell, request_of(group="")) == ErrorCode.NONE


def test_commit_of_a_member_is_taken(shell: Shell, ann: Actor) -> None:
    assert ann.commit(7) == ErrorCode.NONE
    assert last_value(shell).offset == 7


def test_commit_from_outside_is_refused_while_there_are_members(shell: Shell, ann: Actor) -> None:
    assert commit(shell, request_of()) == ErrorCode.UNKNOWN_MEMBER_ID


def test_commit_from_outside_is_taken_when_the_members_have_left(shell: Shell, ann: Actor) -> None:
    ann.leave()
    assert commit(shell, request_of()) == ErrorCode.NONE
    assert ann.commit(1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_commit_of_another_generation_is_illegal(shell: Shell, ann: Actor) -> None:
    request = request_of(generation=2, member_id=ann.member_id)
    assert commit(shell, request) == ErrorCode.ILLEGAL_GENERATION


def test_commit_of_a_stranger_is_unknown_member(shell: Shell, ann: Actor) -> None:
    assert commit(shell, request_of(generation=1, member_id="bob")) == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(shell, request_of(generation=-1, member_id="bob")) == ErrorCode.UNKNOWN_MEMBER_ID


def test_commit_of_an_instance_with_another_member_id_is_fenced(shell: Shell) -> None:
    ann = Actor(shell, "ann", instance="desk")
    stable_group(shell, ann)
    request = request_of(generation=1, member_id="bob", instance="desk")
    assert commit(shell, request) == ErrorCode.FENCED_INSTANCE_ID
    unknown = request_of(generation=1, member_id=ann.member_id, instance="chair")
    assert commit(shell, unknown) == ErrorCode.UNKNOWN_MEMBER_ID


def test_commit_in_the_sync_phase_is_rebalance_in_progress(shell: Shell, ann: Actor) -> None:
    ann.join()
    ann.joined()
    assert ann.commit(1) == ErrorCode.REBALANCE_IN_PROGRESS
    finish_round(ann)
    assert ann.commit(1) == ErrorCode.NONE


def test_commit_of_the_ending_generation_is_taken_in_the_join_phase(shell: Shell, ann: Actor) -> None:
    Actor(shell, "bob").join()
    assert ann.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert ann.commit(1) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        (None, ErrorCode.NONE),
        ("x" * 4096, ErrorCode.NONE),
        ("x" * 4097, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ("é" * 2049, ErrorCode.OFFSET_METADATA_TOO_LARGE),
    ],
)
def test_metadata_has_a_limit(shell: Shell, metadata: str | None, code: ErrorCode) -> None:
    assert commit(shell, request_of(metadata=metadata)) == code
    assert bool(shell.log) == (code is ErrorCode.NONE)


def test_metadata_limit_is_a_setting() -> None:
    shell = Shell(settings=GroupSettings(offset_metadata_max_bytes=3))
    assert commit(shell, request_of(metadata="abcd")) == ErrorCode.OFFSET_METADATA_TOO_LARGE


@pytest.mark.parametrize(("topic", "partition"), [("nothing", 0), ("orders", 4), ("orders", -1)])
def test_partition_that_does_not_exist_is_unknown(shell: Shell, topic: str, partition: int) -> None:
    request = request_of(topic=topic, partition=partition)
    assert commit(shell, request) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_topics_are_named_by_id_since_version_10(shell: Shell) -> None:
    known = request_of(topic="", topic_id=TOPICS.id_of("payments"))
    assert commit(shell, known, version=10) == ErrorCode.NONE
    record = shell.records()[-1]
    assert isinstance(record, OffsetCommitRecord)
    assert record.key.topic == "payments"
    unknown = request_of(topic="", topic_id=TopicId(b"?" * 16))
    assert commit(shell, unknown, version=10) == ErrorCode.UNKNOWN_TOPIC_ID


def test_retention_time_of_old_clients_is_written_down(shell: Shell) -> None:
    commit(shell, request_of(retention_ms=60_000), version=4)
    assert last_value(shell).expire_timestamp == shell.now + 60_000


def test_retention_time_that_ends_after_all_time_is_for_ever(shell: Shell) -> None:
    assert commit(shell, request_of(retention_ms=2**63 - 1), version=4) == ErrorCode.NONE
    assert last_value(shell).expire_timestamp == 2**63 - 1


def test_every_offset_is_taken_or_refused_by_itself(shell: Shell) -> None:
    partitions = tuple(
        OffsetCommitRequestPartition(partition_index=index, committed_offset=index) for index in (0, 9, 1)
    )
    topic = OffsetCommitRequestTopic(name="orders", partitions=partitions)
    other = OffsetCommitRequestTopic(name="nothing", partitions=partitions[:1])
    request = OffsetCommitRequest(group_id=GROUP, topics=(topic, other))
    response = shell.ask(OffsetCommitResponse, request, version=8)
    codes = [
        [(each.partition_index, each.error_code) for each in topic.partitions] for topic in response.topics
    ]
    assert codes == [[(0, 0), (9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (1, 0)], [(0, 3)]]
    assert len(shell.log) == 2


def test_use_topics_changes_what_exists(shell: Shell) -> None:
    shell.shard.use_topics(type(TOPICS)({"new": 1}))
    assert commit(shell, request_of(topic="new")) == ErrorCode.NONE
    assert commit(shell, request_of(topic="orders")) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
