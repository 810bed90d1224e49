from collections.abc import Callable

import pytest

from penstock.config.broker_config import BrokerConfig
from penstock.config.topic_keys import TOPIC_KEYS
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import ConfigRecord, PartitionRecord, TopicRecord
from penstock.metadata.result import Result
from penstock.metadata.topic_creation import create_topics
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicId
from penstock.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

NewId = Callable[[], bytes]
FIRST = TopicId((1).to_bytes(16, "big"))


@pytest.fixture
def create(
    image: ClusterImage, config: BrokerConfig, new_id: NewId
) -> Callable[..., Result[CreateTopicsResponse]]:
    def call(*topics: CreatableTopic, validate_only: bool = False) -> Result[CreateTopicsResponse]:
        request = CreateTopicsRequest(topics=topics, validate_only=validate_only)
        return create_topics(image, request, config=config, new_id=new_id)

    return call


Create = Callable[..., Result[CreateTopicsResponse]]


def make_topic(name: str = "new", partitions: int = 1, factor: int = 1, **rest: object) -> CreatableTopic:
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=factor, **rest)  # type: ignore[arg-type]  # mixed fields


def make_assignments(*replicas: tuple[int, ...]) -> tuple[CreatableReplicaAssignment, ...]:
    return tuple(
        CreatableReplicaAssignment(partition_index=index, broker_ids=each)
        for index, each in enumerate(replicas)
    )


def make_assigned_topic(assignments: tuple[CreatableReplicaAssignment, ...]) -> CreatableTopic:
    return make_topic(partitions=-1, factor=-1, assignments=assignments)


def make_partition(index: int, *replicas: int, isr: tuple[int, ...] | None = None) -> PartitionRecord:
    in_sync = replicas if isr is None else isr
    return PartitionRecord(
        partition_id=index,
        topic_id=FIRST,
        replicas=replicas,
        isr=in_sync,
        leader=in_sync[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=tuple(bytes([node_id]) * 16 for node_id in replicas),
    )


def test_topic_becomes_topic_settings_and_partitions(create: Create) -> None:
    configs = (CreatableTopicConfig(name="retention.ms", value="5"),)
    result = create(make_topic(partitions=2, factor=2, configs=configs))
    assert result.records == (
        TopicRecord(name="new", topic_id=FIRST),
        ConfigRecord(resource_type=2, resource_name="new", name="retention.ms", value="5"),
        make_partition(0, 1, 2),
        make_partition(1, 2, 1),
    )


def test_created_topic_is_described(create: Create) -> None:
    configs = (CreatableTopicConfig(name="retention.ms", value="5"),)
    (made,) = create(make_topic(partitions=2, factor=2, configs=configs)).response.topics
    assert (made.name, made.topic_id, made.error_code, made.error_message) == ("new", FIRST, 0, None)
    assert (made.num_partitions, made.replication_factor, made.topic_config_error_code) == (2, 2, 0)
    assert made.configs is not None
    assert [each.name for each in made.configs] == sorted(TOPIC_KEYS)
    sources = {each.name: (each.value, each.config_source, each.read_only) for each in made.configs}
    assert sources["retention.ms"] == ("5", 1, False)
    assert sources["cleanup.policy"] == ("delete", 5, False)


def test_records_replay_into_what_was_promised(create: Create, image: ClusterImage) -> None:
    result = create(make_topic("a", 3, 2), make_topic("b", -1, -1))
    after = image.apply(result.records)
    assert len(after.topics["a"].partitions) == 3
    assert [each.replicas for each in after.topics["b"].partitions] == [(2, 1), (1, 2)]


def test_minus_one_takes_the_brokers_defaults(create: Create) -> None:
    (made,) = create(make_topic(partitions=-1, factor=-1)).response.topics
    assert (made.num_partitions, made.replication_factor) == (2, 2)


def test_leaders_of_small_topics_go_round(create: Create) -> None:
    result = create(make_topic("a"), make_topic("b"), make_topic("c"))
    leaders = [record.leader for record in result.records if isinstance(record, PartitionRecord)]
    assert leaders == [1, 2, 1]


def test_manual_assignment_is_taken_as_given(create: Create) -> None:
    result = create(make_topic(partitions=-1, factor=-1, assignments=make_assignments((2, 1), (3, 1))))
    assert result.records == (
        TopicRecord(name="new", topic_id=FIRST),
        make_partition(0, 2, 1),
        make_partition(1, 3, 1, isr=(1,)),
    )


def test_validate_only_promises_but_records_nothing(create: Create) -> None:
    result = create(make_topic(partitions=2, factor=2), validate_only=True)
    assert result.records == ()
    assert (result.response.topics[0].error_code, result.response.topics[0].num_partitions) == (0, 2)


@pytest.mark.parametrize(
    ("topic", "code", "message"),
    [
        (make_topic("orders"), ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 'orders' already exists."),
        (
            make_topic("a b"),
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            "Topic name 'a b' is illegal: it may hold only ASCII letters, digits, '.', '_' and '-'.",
        ),
        (make_topic(".."), ErrorCode.INVALID_TOPIC_EXCEPTION, "Topic name '..' is not allowed."),
        (
            make_topic("__cluster_metadata"),
            ErrorCode.INVALID_REQUEST,
            "Creation of internal topic __cluster_metadata is prohibited.",
        ),
        (
            make_topic(partitions=0),
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        ),
        (
            make_topic(partitions=-2),
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        ),
        (
            make_topic(partitions=10_001),
            ErrorCode.INVALID_PARTITIONS,
            "A topic may have 10000 partitions, 10001 were asked for.",
        ),
        (
            make_topic(factor=0),
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        ),
        (
            make_topic(factor=1000),
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Unable to replicate the partition 1000 time(s): The target replication factor of 1000 cannot be "
            "reached because only 3 broker(s) are registered.",
        ),
        (
            make_topic(configs=(CreatableTopicConfig(name="retention.mss", value="1"),)),
            ErrorCode.INVALID_CONFIG,
            "Unknown configuration retention.mss. Did you mean retention.ms?",
        ),
        (
            make_topic(configs=(CreatableTopicConfig(name="retention.ms", value="soon"),)),
            ErrorCode.INVALID_CONFIG,
            "Invalid value soon for configuration retention.ms: must be a whole number, at least -1.",
        ),
        (
            make_topic(configs=(CreatableTopicConfig(name="retention.ms", value=None),)),
            ErrorCode.INVALID_CONFIG,
            "Null value not supported for topic configs: retention.ms",
        ),
        (
            make_topic(configs=(CreatableTopicConfig(name="cleanup.policy", value="x" * 40_000),)),
            ErrorCode.INVALID_CONFIG,
            "The value for configuration cleanup.policy is 40000 characters long, the limit is 32768.",
        ),
        (
            make_topic(configs=(CreatableTopicConfig(name="remote.storage.enable", value="true"),)),
            ErrorCode.INVALID_CONFIG,
            "Invalid value true for configuration remote.storage.enable: must be false: tiered storage is "
            "not available.",
        ),
        (
            make_topic(
                configs=(
                    CreatableTopicConfig(name="min.compaction.lag.ms", value="9"),
                    CreatableTopicConfig(name="max.compaction.lag.ms", value="8"),
                )
            ),
            ErrorCode.INVALID_CONFIG,
            "Conflicting settings: min.compaction.lag.ms (9) is larger than max.compaction.lag.ms (8).",
        ),
        (
            make_topic(partitions=2, factor=-1, assignments=make_assignments((1,))),
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        ),
        (
            make_topic(partitions=-1, factor=1, assignments=make_assignments((1,))),
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        ),
        (
            make_assigned_topic(make_assignments((1,)) * 2),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Found multiple manual partition assignments for partition 0",
        ),
        (
            make_assigned_topic(make_assignments((1,), (2,))[1:]),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (
            make_assigned_topic(make_assignments(())),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes an empty replica list.",
        ),
        (
            make_assigned_topic(make_assignments((1, 9))),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (
            make_assigned_topic(make_assignments((1, 1))),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes the broker 1 more than once.",
        ),
        (
            make_assigned_topic(make_assignments((1,), (1, 2))),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes a partition with 2 replica(s), but this is not "
            "consistent with previous partitions, which have 1 replica(s).",
        ),
        (
            make_assigned_topic(make_assignments((3,))),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "All brokers specified in the manual partition assignment are fenced.",
        ),
    ],
)
def test_topic_that_cannot_be_is_refused(
    create: Create, topic: CreatableTopic, code: ErrorCode, message: str
) -> None:
    result = create(topic)
    assert result.records == ()
    assert result.response.topics == (
        CreatableTopicResult(name=topic.name, error_code=code, error_message=message),
    )


def test_one_bad_topic_does_not_harm_the_others(create: Create) -> None:
    result = create(make_topic("orders"), make_topic("good"))
    assert [each.error_code for each in result.response.topics] == [ErrorCode.TOPIC_ALREADY_EXISTS, 0]
    assert isinstance(result.records[0], TopicRecord)
    assert result.records[0].name == "good"


def test_name_given_twice_is_refused_once(create: Create) -> None:
    result = create(make_topic("x"), make_topic("y"), make_topic("x", 5))
    assert [(each.name, each.error_code, each.error_message) for each in result.response.topics] == [
        ("x", ErrorCode.INVALID_REQUEST, "Duplicate topic name."),
        ("y", 0, None),
    ]


def test_names_that_metrics_confuse_are_refused(create: Create, image: ClusterImage) -> None:
    result = create(make_topic("a.b"), make_topic("a_b"))
    assert [each.error_code for each in result.response.topics] == [0, ErrorCode.INVALID_TOPIC_EXCEPTION]
    assert result.response.topics[1].error_message == "Topic 'a_b' collides with existing topic: a.b"


def test_cluster_has_a_limit_of_partitions(create: Create) -> None:
    result = create(*(make_topic(f"t{number}", 10_000) for number in range(11)), validate_only=True)
    assert [each.error_code for each in result.response.topics] == [0] * 9 + [ErrorCode.POLICY_VIOLATION] * 2


def test_request_has_a_limit_of_topics(create: Create) -> None:
    result = create(*(make_topic(f"t{number}") for number in range(10_001)))
    assert result.records == ()
    assert {each.error_code for each in result.response.topics} == {ErrorCode.POLICY_VIOLATION}
