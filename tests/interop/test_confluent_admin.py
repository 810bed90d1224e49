"""confluent-kafka (librdkafka) administers topics, settings and records."""

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)
from tests.broker_process import wait_until
from tests.cluster_size import REPLICATION_FACTOR
from tests.conftest import UniqueName
from tests.interop.confluent import (
    REQUEST_SECONDS,
    admin_client,
    consumer,
    create_topic,
    error_code,
    make_producer,
    partition_count,
    read,
    read_all,
    send,
)

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def admin(bootstrap: str) -> AdminClient:
    return admin_client(bootstrap)


def creation_error(admin: AdminClient, topic: NewTopic) -> int:
    with pytest.raises(KafkaException) as failure:
        admin.create_topics([topic])[topic.topic].result(REQUEST_SECONDS)
    return error_code(failure.value)


def topic_settings(admin: AdminClient, topic: str) -> dict[str, ConfigEntry]:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    settings: dict[str, ConfigEntry] = admin.describe_configs([resource])[resource].result(REQUEST_SECONDS)
    return settings


def change_settings(
    admin: AdminClient, topic: str, *changes: tuple[str, str | None, AlterConfigOpType]
) -> None:
    entries = [
        ConfigEntry(name, value, incremental_operation=operation) for name, value, operation in changes
    ]
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
    admin.incremental_alter_configs([resource])[resource].result(REQUEST_SECONDS)


def test_cluster_describes_itself(admin: AdminClient, bootstrap: str) -> None:
    metadata = admin.list_topics(timeout=10)
    described = admin.describe_cluster(request_timeout=10).result(REQUEST_SECONDS)

    assert metadata.controller_id in metadata.brokers
    assert len(metadata.cluster_id) == 22
    assert described.cluster_id == metadata.cluster_id
    assert {node.id for node in described.nodes} == set(metadata.brokers)
    assert {f"{node.host}:{node.port}" for node in described.nodes} == set(bootstrap.split(","))


def test_topic_is_created_described_and_deleted(admin: AdminClient, unique: UniqueName) -> None:
    topic = create_topic(admin, unique(), partitions=6)

    partitions = admin.list_topics(topic, timeout=10).topics[topic].partitions
    described = admin.describe_topics(TopicCollection([topic]))[topic].result(REQUEST_SECONDS)

    assert sorted(partitions) == list(range(6))
    for partition in partitions.values():
        assert partition.error is None
        assert partition.leader in partition.isrs
        assert sorted(partition.replicas) == sorted(partition.isrs)
        assert len(partition.replicas) == REPLICATION_FACTOR
    assert (described.name, described.is_internal, len(described.partitions)) == (topic, False, 6)
    assert described.topic_id.get_most_significant_bits() != 0

    admin.delete_topics([topic])[topic].result(REQUEST_SECONDS)
    wait_until(lambda: partition_count(admin, topic) == 0, what="the topic to go")
    with pytest.raises(KafkaException) as failure:
        admin.delete_topics([topic])[topic].result(REQUEST_SECONDS)
    assert error_code(failure.value) == KafkaError.UNKNOWN_TOPIC_OR_PART
    with pytest.raises(KafkaException) as failure:
        admin.describe_topics(TopicCollection([topic]))[topic].result(REQUEST_SECONDS)
    assert error_code(failure.value) == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_impossible_topics_are_refused_each_for_its_reason(admin: AdminClient, unique: UniqueName) -> None:
    taken = create_topic(admin, unique())
    assert creation_error(admin, NewTopic(taken, 1, 1)) == KafkaError.TOPIC_ALREADY_EXISTS
    assert creation_error(admin, NewTopic("bad name!", 1, 1)) == KafkaError.TOPIC_EXCEPTION
    assert creation_error(admin, NewTopic("a" * 250, 1, 1)) == KafkaError.TOPIC_EXCEPTION
    assert creation_error(admin, NewTopic(unique(), 0, 1)) == KafkaError.INVALID_PARTITIONS
    assert creation_error(admin, NewTopic(unique(), 1, 100)) == KafkaError.INVALID_REPLICATION_FACTOR
    bad_value = NewTopic(unique(), 1, 1, config={"retention.ms": "soon"})
    assert creation_error(admin, bad_value) == KafkaError.INVALID_CONFIG
    unknown_key = NewTopic(unique(), 1, 1, config={"no.such.setting": "1"})
    assert creation_error(admin, unknown_key) == KafkaError.INVALID_CONFIG
    missing_broker = NewTopic(unique(), 1, replica_assignment=[[4711]])
    assert creation_error(admin, missing_broker) == KafkaError.INVALID_REPLICA_ASSIGNMENT


def test_validate_only_creates_nothing(admin: AdminClient, unique: UniqueName) -> None:
    topic = unique()
    admin.create_topics([NewTopic(topic, 1, 1)], validate_only=True)[topic].result(REQUEST_SECONDS)
    create_topic(admin, unique())  # What came later is there, so the first would be too.
    assert partition_count(admin, topic) == 0


def test_defaults_of_the_broker_are_used_when_counts_are_left_out(
    admin: AdminClient, unique: UniqueName
) -> None:
    topic = unique()
    admin.create_topics([NewTopic(topic, -1, -1)])[topic].result(REQUEST_SECONDS)
    wait_until(lambda: partition_count(admin, topic) == 1, what="the topic")


def test_partitions_are_added_but_never_taken_away(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique(), partitions=2)

    admin.create_partitions([NewPartitions(topic, 5)])[topic].result(REQUEST_SECONDS)
    wait_until(lambda: partition_count(admin, topic) == 5, what="five partitions")
    send(make_producer(bootstrap), topic, [{"value": b"x", "partition": 4}])

    assert [(one.partition(), one.value()) for one in read_all(bootstrap, topic, partitions=5)] == [(4, b"x")]
    for count in (3, 5):
        with pytest.raises(KafkaException) as failure:
            admin.create_partitions([NewPartitions(topic, count)])[topic].result(REQUEST_SECONDS)
        assert error_code(failure.value) == KafkaError.INVALID_PARTITIONS


def test_topic_settings_show_value_default_and_usual_names(admin: AdminClient, unique: UniqueName) -> None:
    topic = create_topic(admin, unique(), config={"retention.ms": "123456"})

    settings = topic_settings(admin, topic)

    assert settings["retention.ms"].value == "123456"
    assert not settings["retention.ms"].is_default
    assert settings["cleanup.policy"].value == "delete"
    assert settings["cleanup.policy"].is_default
    assert {
        "cleanup.policy",
        "compression.type",
        "delete.retention.ms",
        "file.delete.delay.ms",
        "flush.messages",
        "flush.ms",
        "index.interval.bytes",
        "max.message.bytes",
        "message.timestamp.after.max.ms",
        "message.timestamp.before.max.ms",
        "message.timestamp.type",
        "min.insync.replicas",
        "preallocate",
        "retention.bytes",
        "retention.ms",
        "segment.bytes",
        "segment.index.bytes",
        "segment.ms",
    } <= set(settings)


def test_incremental_changes_set_append_subtract_and_delete(admin: AdminClient, unique: UniqueName) -> None:
    topic = create_topic(admin, unique())

    change_settings(
        admin,
        topic,
        ("retention.ms", "999", AlterConfigOpType.SET),
        ("cleanup.policy", "compact", AlterConfigOpType.APPEND),
    )
    wait_until(lambda: topic_settings(admin, topic)["retention.ms"].value == "999", what="the new value")
    assert topic_settings(admin, topic)["cleanup.policy"].value == "delete,compact"

    change_settings(
        admin,
        topic,
        ("retention.ms", None, AlterConfigOpType.DELETE),
        ("cleanup.policy", "delete", AlterConfigOpType.SUBTRACT),
    )
    wait_until(lambda: topic_settings(admin, topic)["retention.ms"].is_default, what="the default")
    assert topic_settings(admin, topic)["cleanup.policy"].value == "compact"


@pytest.mark.filterwarnings("ignore:alter_configs has been deprecated:DeprecationWarning")
def test_old_style_change_replaces_the_whole_set(admin: AdminClient, unique: UniqueName) -> None:
    topic = create_topic(admin, unique(), config={"cleanup.policy": "compact"})
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, set_config={"retention.ms": "777"})

    admin.alter_configs([resource])[resource].result(REQUEST_SECONDS)

    wait_until(lambda: topic_settings(admin, topic)["retention.ms"].value == "777", what="the new value")
    assert topic_settings(admin, topic)["cleanup.policy"].value == "delete"


def test_bad_settings_are_refused_and_change_nothing(admin: AdminClient, unique: UniqueName) -> None:
    topic = create_topic(admin, unique())
    for name, value in (("retention.ms", "soon"), ("cleanup.policy", "shred"), ("no.such.setting", "1")):
        with pytest.raises(KafkaException) as failure:
            change_settings(admin, topic, (name, value, AlterConfigOpType.SET))
        assert error_code(failure.value) == KafkaError.INVALID_CONFIG
    assert topic_settings(admin, topic)["retention.ms"].value == "-1"
    assert topic_settings(admin, topic)["cleanup.policy"].value == "delete"


def test_settings_of_a_missing_topic_are_an_error(admin: AdminClient, unique: UniqueName) -> None:
    with pytest.raises(KafkaException) as failure:
        topic_settings(admin, unique("missing"))
    assert error_code(failure.value) == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_broker_settings_have_kafkas_names(admin: AdminClient) -> None:
    broker = min(admin.list_topics(timeout=10).brokers)
    resource = ConfigResource(ConfigResource.Type.BROKER, str(broker))

    settings = admin.describe_configs([resource])[resource].result(REQUEST_SECONDS)

    assert {"num.partitions", "log.retention.hours", "message.max.bytes", "socket.request.max.bytes"} <= set(
        settings
    )
    assert settings["num.partitions"].value == "1"


def test_offsets_are_listed_by_every_specification(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    partition = TopicPartition(topic, 0)
    stamps = [1000, 5000, 3000]
    send(
        make_producer(bootstrap, linger_ms=50),
        topic,
        [{"value": b"x", "timestamp": stamp} for stamp in stamps],
    )

    def listed(specification: OffsetSpec) -> tuple[int, int]:
        answer = admin.list_offsets({partition: specification})[partition].result(REQUEST_SECONDS)
        return answer.offset, answer.timestamp

    assert listed(OffsetSpec.earliest())[0] == 0
    assert listed(OffsetSpec.latest())[0] == 3
    assert listed(OffsetSpec.for_timestamp(2000)) == (1, 5000)
    assert listed(OffsetSpec.max_timestamp()) == (1, 5000)
    assert listed(OffsetSpec.for_timestamp(5001))[0] == -1


def test_deleted_records_are_gone_and_readers_move_on(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    send(make_producer(bootstrap), topic, [{"value": b"%d" % index} for index in range(20)])

    (deleted,) = admin.delete_records([TopicPartition(topic, 0, 12)]).values()
    assert deleted.result(REQUEST_SECONDS).low_watermark == 12

    with consumer(bootstrap) as client:
        assert client.get_watermark_offsets(TopicPartition(topic, 0), timeout=10) == (12, 20)
        client.assign([TopicPartition(topic, 0, 3)])  # Below the log start: reset to it.
        assert [message.offset() for message in read(client, 8)] == list(range(12, 20))
    (refused,) = admin.delete_records([TopicPartition(topic, 0, 500)]).values()
    with pytest.raises(KafkaException) as failure:
        refused.result(REQUEST_SECONDS)
    assert error_code(failure.value) == KafkaError.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(
    ("policy", "refusal"), [("compact", KafkaError.POLICY_VIOLATION), ("compact,delete", None)]
)
def test_records_of_a_compacted_topic_are_deleted_only_if_retention_deletes_too(
    bootstrap: str, admin: AdminClient, unique: UniqueName, policy: str, refusal: int | None
) -> None:
    topic = create_topic(admin, unique(), config={"cleanup.policy": policy})
    send(make_producer(bootstrap), topic, [{"key": b"a", "value": b"1"}])
    assert why_not_deleted(admin, TopicPartition(topic, 0, 1)) == refusal


def test_records_of_internal_topics_are_not_deleted(
    bootstrap: str, admin: AdminClient, unique: UniqueName
) -> None:
    topic = create_topic(admin, unique())
    with consumer(bootstrap) as client:  # Whoever commits first has the topic of offsets made.
        client.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    offsets = TopicPartition("__consumer_offsets", 0, 0)
    assert why_not_deleted(admin, offsets) == KafkaError.TOPIC_EXCEPTION


def why_not_deleted(admin: AdminClient, before: TopicPartition) -> int | None:
    """The code with which deleting records was refused."""
    (deleted,) = admin.delete_records([before]).values()
    try:
        deleted.result(REQUEST_SECONDS)
    except KafkaException as failure:
        return error_code(failure)
    return None


def test_topic_made_again_starts_empty(bootstrap: str, admin: AdminClient, unique: UniqueName) -> None:
    topic = create_topic(admin, unique())
    send(make_producer(bootstrap), topic, [{"value": b"old"}] * 5)
    admin.delete_topics([topic])[topic].result(REQUEST_SECONDS)
    wait_until(lambda: partition_count(admin, topic) == 0, what="the topic to go")

    create_topic(admin, topic)
    send(make_producer(bootstrap), topic, [{"value": b"new"}])

    assert [(one.offset(), one.value()) for one in read_all(bootstrap, topic)] == [(0, b"new")]


def test_hundred_topics_in_one_request(bootstrap: str, admin: AdminClient, unique: UniqueName) -> None:
    names = [unique("many") for _ in range(100)]

    for future in admin.create_topics([NewTopic(name, 3, 1) for name in names]).values():
        future.result(60)
    producer = make_producer(bootstrap)
    for name in names:
        producer.produce(name, name.encode())
    assert producer.flush(40) == 0

    with consumer(bootstrap) as client:
        client.assign([TopicPartition(name, number, 0) for name in names for number in range(3)])
        assert {message.value().decode() for message in read(client, 100)} == set(names)
    for future in admin.delete_topics(names).values():
        future.result(60)
