import pytest
from tests.groups.actors import GROUP, Actor, stable_group
from tests.groups.shell import TOPICS, FixedTopics, Shell

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicId
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)


@pytest.fixture
def shell() -> Shell:
    """A group that has committed to 0 and 2 of orders, and to 1 of payments."""
    shell = Shell()
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.commit(10, partition=0)
    ann.commit(12, partition=2)
    ann.commit(21, topic="payments", partition=1)
    return shell


def old_topic(name: str, *offsets: tuple[int, int]) -> OffsetFetchResponseTopic:
    return OffsetFetchResponseTopic(
        name=name,
        partitions=tuple(
            OffsetFetchResponsePartition(partition_index=index, committed_offset=offset)
            for index, offset in offsets
        ),
    )


@pytest.mark.parametrize("version", [1, 2, 5, 7])
def test_partitions_asked_for_are_answered_in_their_order(shell: Shell, version: int) -> None:
    topic = OffsetFetchRequestTopic(name="orders", partition_indexes=(2, 1, 0))
    request = OffsetFetchRequest(group_id=GROUP, topics=(topic,))
    response = shell.ask(OffsetFetchResponse, request, version=version)
    assert response == OffsetFetchResponse(topics=(old_topic("orders", (2, 12), (1, -1), (0, 10)),))


def test_null_topics_mean_all_that_is_committed(shell: Shell) -> None:
    request = OffsetFetchRequest(group_id=GROUP, topics=None)
    response = shell.ask(OffsetFetchResponse, request, version=2)
    assert response.topics == (old_topic("orders", (0, 10), (2, 12)), old_topic("payments", (1, 21)))


def test_no_topics_mean_none(shell: Shell) -> None:
    request = OffsetFetchRequest(group_id=GROUP, topics=())
    assert shell.ask(OffsetFetchResponse, request, version=2) == OffsetFetchResponse()


def test_unknown_group_is_no_error(shell: Shell) -> None:
    topic = OffsetFetchRequestTopic(name="orders", partition_indexes=(0,))
    request = OffsetFetchRequest(group_id="nobody", topics=(topic,))
    response = shell.ask(OffsetFetchResponse, request, version=7)
    assert response == OffsetFetchResponse(topics=(old_topic("orders", (0, -1)),))
    all_ = OffsetFetchRequest(group_id="nobody", topics=None)
    assert shell.ask(OffsetFetchResponse, all_, version=7) == OffsetFetchResponse()


def test_metadata_and_leader_epoch_come_back(shell: Shell) -> None:
    topic = OffsetFetchRequestTopic(name="orders", partition_indexes=(0,))
    request = OffsetFetchRequest(group_id=GROUP, topics=(topic,))
    (partition,) = shell.ask(OffsetFetchResponse, request, version=7).topics[0].partitions
    assert (partition.committed_leader_epoch, partition.metadata) == (-1, "")


def test_many_groups_are_answered_since_version_8(shell: Shell) -> None:
    topic = OffsetFetchRequestTopics(name="orders", partition_indexes=(0,))
    groups = (
        OffsetFetchRequestGroup(group_id=GROUP, topics=(topic,)),
        OffsetFetchRequestGroup(group_id="nobody", topics=None),
    )
    response = shell.ask(OffsetFetchResponse, OffsetFetchRequest(groups=groups), version=8)
    answered = OffsetFetchResponseTopics(
        name="orders",
        partitions=(OffsetFetchResponsePartitions(partition_index=0, committed_offset=10),),
    )
    assert response.groups == (
        OffsetFetchResponseGroup(group_id=GROUP, topics=(answered,)),
        OffsetFetchResponseGroup(group_id="nobody"),
    )


def test_classic_groups_do_not_care_who_asks(shell: Shell) -> None:
    group = OffsetFetchRequestGroup(group_id=GROUP, member_id="anybody", member_epoch=9, topics=None)
    response = shell.ask(OffsetFetchResponse, OffsetFetchRequest(groups=(group,)), version=9)
    assert response.groups[0].error_code == ErrorCode.NONE


def by_id(shell: Shell, topic_id: TopicId) -> OffsetFetchResponsePartitions:
    topic = OffsetFetchRequestTopics(topic_id=topic_id, partition_indexes=(0,))
    request = OffsetFetchRequest(groups=(OffsetFetchRequestGroup(group_id=GROUP, topics=(topic,)),))
    (answered,) = shell.ask(OffsetFetchResponse, request, version=10).groups[0].topics
    assert answered.topic_id == topic_id
    return answered.partitions[0]


def test_topics_are_named_by_id_since_version_10(shell: Shell) -> None:
    assert by_id(shell, TOPICS.id_of("orders")).committed_offset == 10
    assert by_id(shell, TopicId(b"?" * 16)).error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_offset_of_a_deleted_topic_is_not_that_of_a_new_one_of_the_same_name(shell: Shell) -> None:
    topics = FixedTopics({"first": 1, "orders": 4})
    assert topics.id_of("orders") != TOPICS.id_of("orders")
    shell.shard.use_topics(topics)
    assert by_id(shell, topics.id_of("orders")).committed_offset == -1


@pytest.mark.parametrize("counts", [{"first": 1, "orders": 4}, {"first": 1}], ids=["made anew", "gone"])
def test_offset_of_a_deleted_topic_is_none_by_name_either(shell: Shell, counts: dict[str, int]) -> None:
    shell.shard.use_topics(FixedTopics(counts))
    topic = OffsetFetchRequestTopic(name="orders", partition_indexes=(0, 2))
    request = OffsetFetchRequest(group_id=GROUP, topics=(topic,))
    response = shell.ask(OffsetFetchResponse, request, version=7)
    assert response == OffsetFetchResponse(topics=(old_topic("orders", (0, -1), (2, -1)),))


def test_all_topics_by_id_leaves_out_those_without_one(shell: Shell) -> None:
    shell.shard.use_topics(FixedTopics({"orders": 4}))
    request = OffsetFetchRequest(groups=(OffsetFetchRequestGroup(group_id=GROUP, topics=None),))
    response = shell.ask(OffsetFetchResponse, request, version=10)
    assert [topic.topic_id for topic in response.groups[0].topics] == [TOPICS.id_of("orders")]
