"""The administrator against a real broker."""

from datetime import UTC, datetime

import pytest
from tests.broker_process import wait_until
from tests.client.conftest import MakeTopic
from tests.client.consuming.test_consumer import fill, grouped
from tests.cluster_size import NODE_COUNT, REPLICATION_FACTOR
from tests.conftest import UniqueName

from penstock import Admin, AdminConfig, ConfigKind, NewTopic, OffsetResetPolicy
from penstock.client.errors import (
    AlreadyExists,
    BrokerUnavailable,
    ClosedError,
    ConfigurationError,
    RequestRefused,
    RequestTimedOut,
    UnknownTopic,
)


def test_topics_are_created_listed_described_grown_and_deleted(admin: Admin, unique: UniqueName) -> None:
    one, other = unique("admin"), unique("admin")
    admin.create_topics(
        [NewTopic(name=one, partitions=2, config={"cleanup.policy": "compact"}), NewTopic(name=other)]
    )
    assert {one, other} <= set(admin.list_topics())
    described = admin.describe_topic(one)
    assert (described.name, described.is_internal, len(described.topic_id)) == (one, False, 22)
    assert [each.partition for each in described.partitions] == [0, 1]
    for each in described.partitions:
        assert each.leader in each.replicas
        assert set(each.in_sync_replicas) <= set(each.replicas)
    admin.add_partitions(one, 5)
    wait_until(lambda: len(admin.describe_topics([one])[one].partitions) == 5, what="five partitions")
    admin.delete_topics([one, other])
    wait_until(lambda: not {one, other} & set(admin.list_topics()), what="no topics")


def test_topic_that_is_there_is_refused_unless_that_is_good(admin: Admin, topic: str) -> None:
    with pytest.raises(AlreadyExists) as refused:
        admin.create_topic(topic)
    assert refused.value.code == "TOPIC_ALREADY_EXISTS"
    admin.create_topic(topic, exist_ok=True)


def test_what_could_not_be_created_is_refused_and_nothing_is_made_of_a_trial(
    admin: Admin, unique: UniqueName
) -> None:
    name = unique("admin")
    with pytest.raises(RequestRefused) as refused:
        admin.create_topic(name, replication_factor=99)
    assert refused.value.code == "INVALID_REPLICATION_FACTOR"
    admin.create_topics([NewTopic(name=name, partitions=3)], validate_only=True)
    admin.create_topics([NewTopic(name=name, replicas=[[1], [1]])])
    assert len(admin.describe_topic(name).partitions) == 2


def test_topic_that_is_not_there_is_unknown(admin: Admin, unique: UniqueName) -> None:
    name = unique("nowhere")
    for call in (admin.describe_topic, admin.delete_topics, admin.describe_config):
        with pytest.raises(UnknownTopic):
            call(name)
    with pytest.raises(UnknownTopic):
        admin.reset_group_offsets("g", "earliest", topics=name)


def test_settings_are_altered_one_by_one(admin: Admin, topic: str) -> None:
    admin.alter_config(topic, {"retention.bytes": 12345, "segment.bytes": 2_000_000})
    admin.alter_config(topic, {"segment.bytes": None}, append={"cleanup.policy": "compact"})
    found = admin.describe_config(topic)
    assert (found["retention.bytes"].value, found["retention.bytes"].source) == (
        "12345",
        "DYNAMIC_TOPIC_CONFIG",
    )
    assert found["segment.bytes"].is_default
    assert sorted((found["cleanup.policy"].value or "").split(",")) == ["compact", "delete"]
    admin.alter_config(topic, {"retention.bytes": 1}, validate_only=True)
    assert admin.describe_config(topic)["retention.bytes"].value == "12345"


def test_bad_settings_are_refused(admin: Admin, topic: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        admin.alter_config(topic, {"retention.mss": 1})
    assert refused.value.code == "INVALID_CONFIG"
    with pytest.raises(ConfigurationError, match="nothing is to be changed"):
        admin.alter_config(topic)
    with pytest.raises(ConfigurationError, match=r"ConfigKind\.BROKER"):
        admin.describe_config(topic, kind="cluster")


def test_settings_of_a_broker_are_described(admin: Admin) -> None:
    number = admin.describe_cluster().brokers[0].id
    found = admin.describe_config(number, kind=ConfigKind.BROKER)
    assert found["auto.create.topics.enable"].value == "false"


def test_cluster_is_described(admin: Admin, broker: str) -> None:
    described = admin.describe_cluster()
    assert described.cluster_id
    assert described.controller in described.brokers
    assert len(described.brokers) == NODE_COUNT
    assert f"{described.brokers[0].host}:{described.brokers[0].port}" in broker
    assert len(described.brokers) >= REPLICATION_FACTOR


def test_groups_are_listed_described_and_deleted(
    admin: Admin, broker: str, make_topic: MakeTopic, unique: UniqueName
) -> None:
    topic, group = make_topic(2), unique("group")
    with grouped(broker, group, client_id="reader") as consumer:
        consumer.subscribe(topic)
        wait_until(lambda: consumer.poll(0.1) or consumer.assignment(), what="an assignment")
        described = admin.describe_group(group)
        assert (described.group_id, described.state, described.protocol) == (group, "stable", "classic")
        assert described.coordinator is not None
        (member,) = described.members
        assert (member.client_id, member.partitions) == ("reader", ((topic, 0), (topic, 1)))
        with pytest.raises(RequestRefused) as refused:
            admin.delete_groups(group)
        assert refused.value.code == "NON_EMPTY_GROUP"
    listed = {each.group_id: each.state for each in admin.list_groups()}
    assert listed[group] == "empty"
    admin.delete_groups([group])
    assert group not in {each.group_id for each in admin.list_groups()}


def test_offsets_of_a_group_are_read_altered_and_reset(
    admin: Admin, broker: str, make_topic: MakeTopic, unique: UniqueName
) -> None:
    topic, group = make_topic(2), unique("group")
    fill(broker, topic, 10)
    fill(broker, topic, 4, partition=1)
    assert admin.group_offsets(group) == {}
    admin.alter_group_offsets(group, {(topic, 0): 7})
    assert admin.group_offsets(group) == {(topic, 0): 7}
    assert admin.group_offsets(group, [(topic, 0), (topic, 1)]) == {(topic, 0): 7}
    assert admin.reset_group_offsets(group, OffsetResetPolicy.EARLIEST) == {(topic, 0): 0}
    assert admin.reset_group_offsets(group, "latest", topics=topic) == {(topic, 0): 10, (topic, 1): 4}
    assert admin.reset_group_offsets(group, 2) == {(topic, 0): 2, (topic, 1): 2}
    since = datetime(2000, 1, 1, tzinfo=UTC)
    assert admin.reset_group_offsets(group, since, topics=[topic]) == {(topic, 0): 0, (topic, 1): 0}
    later = datetime(2100, 1, 1, tzinfo=UTC)
    assert admin.reset_group_offsets(group, later) == {(topic, 0): 10, (topic, 1): 4}
    assert admin.group_offsets(group) == {(topic, 0): 10, (topic, 1): 4}
    with pytest.raises(ConfigurationError, match="'first' is not allowed"):
        admin.reset_group_offsets(group, "first")


def test_records_are_deleted_up_to_an_offset(admin: Admin, broker: str, topic: str) -> None:
    fill(broker, topic, 10)
    assert admin.delete_records({(topic, 0): 4}) == {(topic, 0): 4}
    assert admin.list_offsets([(topic, 0)], "earliest") == {(topic, 0): 4}
    assert admin.delete_records({(topic, 0): -1}) == {(topic, 0): 10}
    assert admin.list_offsets([(topic, 0)]) == {(topic, 0): 10}


def test_question_that_nobody_answers_ends_in_time() -> None:
    with Admin(AdminConfig(bootstrap_servers="127.0.0.1:1", request_timeout_ms=500)) as admin:
        with pytest.raises(RequestTimedOut, match="bootstrap_servers"):
            admin.create_topic("nowhere")
        with pytest.raises((RequestTimedOut, BrokerUnavailable), match="list topics"):
            admin.list_topics(timeout=0.2)


def test_closed_administrator_says_so(broker: str) -> None:
    admin = Admin(bootstrap_servers=broker)
    admin.close()
    admin.close()
    with pytest.raises(ClosedError):
        admin.list_topics()
