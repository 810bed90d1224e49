"""Settings: what is refused and how, and what librdkafka is told."""

from typing import Any

import pytest

from penstock import (
    AckMode,
    Admin,
    AdminConfig,
    Consumer,
    ConsumerConfig,
    GroupProtocol,
    OffsetResetPolicy,
    Partitioner,
    Producer,
    ProducerConfig,
)
from penstock.client.errors import ConfigurationError


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, {"acks": "all", "enable.idempotence": True, "batch.size": 16384, "linger.ms": 10}),
        ({}, {"bootstrap.servers": "127.0.0.1:9092", "partitioner": "murmur2_random"}),
        ({"bootstrap_servers": ["a:1", "b:2"]}, {"bootstrap.servers": "a:1,b:2"}),
        ({"acks": AckMode.LEADER}, {"acks": "1", "enable.idempotence": False}),
        ({"acks": 0}, {"acks": "0"}),
        ({"acks": -1}, {"acks": "all"}),
        ({"compression_type": "zstd"}, {"compression.type": "zstd"}),
        ({"buffer_bytes": 2048}, {"queue.buffering.max.kbytes": 2}),
        (
            {"transactional_id": "t", "transaction_timeout_ms": 5000},
            {"transactional.id": "t", "message.timeout.ms": 5000},
        ),
        ({"retries": 3, "linger_ms": 1, "kafka": {"linger.ms": 7}}, {"linger.ms": 7}),
    ],
)
def test_producer_config_tells_librdkafka(settings: dict[str, Any], told: dict[str, Any]) -> None:
    found = ProducerConfig(**settings).librdkafka()
    assert {name: found[name] for name in told} == told


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, {"auto.offset.reset": "latest", "enable.auto.commit": False, "enable.auto.offset.store": False}),
        (
            {"group_id": "g"},
            {"group.id": "g", "enable.auto.commit": True, "isolation.level": "read_committed"},
        ),
        ({"auto_offset_reset": OffsetResetPolicy.NONE}, {"auto.offset.reset": "error"}),
        ({"auto_offset_reset": "earliest"}, {"auto.offset.reset": "earliest"}),
        ({"session_timeout_ms": 900}, {"session.timeout.ms": 900, "heartbeat.interval.ms": 300}),
        (
            {"group_protocol": GroupProtocol.CONSUMER, "assignment_strategy": "range"},
            {"group.protocol": "consumer", "group.remote.assignor": "range"},
        ),
    ],
)
def test_consumer_config_tells_librdkafka(settings: dict[str, Any], told: dict[str, Any]) -> None:
    found = ConsumerConfig(**settings).librdkafka()
    assert {name: found[name] for name in told} == told


@pytest.mark.parametrize(
    ("config", "settings", "words"),
    [
        (ProducerConfig, {"acks": "most"}, ["acks='most'", "AckMode.ALL ('all')", "AckMode.LEADER"]),
        (ProducerConfig, {"batch_size": 0}, ["batch_size=0", "from 1 to"]),
        (ProducerConfig, {"batch_size": True}, ["batch_size=True", "a whole number"]),
        (ProducerConfig, {"linger_ms": -1}, ["linger_ms=-1", "a number from 0 to 900000"]),
        (ProducerConfig, {"compression_type": "rar"}, ["compression_type='rar'", "'zstd'"]),
        (ProducerConfig, {"enable_idempotence": 1}, ["enable_idempotence=1", "True or False"]),
        (ProducerConfig, {"enable_idempotence": True, "acks": "1"}, ["acks=", "AckMode.ALL"]),
        (ProducerConfig, {"transactional_id": "t", "acks": 1}, ["transactional_id='t'", "AckMode.ALL"]),
        (ProducerConfig, {"transactional_id": ""}, ["transactional_id=''", "not empty"]),
        (ProducerConfig, {"max_in_flight_requests": 6}, ["max_in_flight_requests=6", "at most 5"]),
        (ProducerConfig, {"retries": 0}, ["retries=0", "at least 1"]),
        (ProducerConfig, {"delivery_timeout_ms": 5}, ["delivery_timeout_ms=5", "more than linger_ms, 10"]),
        (ProducerConfig, {"partitioner": "best"}, ["partitioner='best'", "Partitioner.ROUND_ROBIN"]),
        (ProducerConfig, {"value_serializer": "xml"}, ["value_serializer='xml'", "'json'"]),
        (ProducerConfig, {"bootstrap_servers": "here"}, ["bootstrap_servers='here'", "'host:port'"]),
        (ProducerConfig, {"bootstrap_servers": []}, ["bootstrap_servers=[]", "'host:port'"]),
        (ProducerConfig, {"bootstrap_servers": 9092}, ["bootstrap_servers=9092", "'host:port'"]),
        (ProducerConfig, {"kafka": ["linger.ms"]}, ["kafka=", "a mapping"]),
        (ConsumerConfig, {"auto_offset_reset": "first"}, ["auto_offset_reset='first'", "'earliest'"]),
        (ConsumerConfig, {"max_poll_records": 0}, ["max_poll_records=0", "from 1 to 1000000"]),
        (ConsumerConfig, {"isolation_level": "none"}, ["isolation_level='none'", "'read_committed'"]),
        (ConsumerConfig, {"group_instance_id": "i"}, ["group_instance_id='i'", "without a group_id"]),
        (ConsumerConfig, {"key_deserializer": 3}, ["key_deserializer=3", "a function"]),
        (
            ConsumerConfig,
            {"session_timeout_ms": 99, "max_poll_interval_ms": 9},
            ["session_timeout_ms=99", "at most max_poll_interval_ms, 9"],
        ),
        (
            ConsumerConfig,
            {"group_protocol": "consumer", "session_timeout_ms": 9},
            ["session_timeout_ms=9", "the broker decides"],
        ),
        (AdminConfig, {"request_timeout_ms": "soon"}, ["request_timeout_ms='soon'", "a whole number"]),
        (AdminConfig, {"security_protocol": "https"}, ["security_protocol='https'", "'sasl_ssl'"]),
    ],
)
def test_config_refuses_naming_setting_value_and_what_is_allowed(
    config: Any, settings: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        config(**settings)
    assert [word for word in words if word not in str(refused.value)] == []
    assert refused.value.setting == words[0].partition("=")[0]
    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize("client", [Producer, Consumer, Admin])
def test_client_with_an_unknown_setting_names_the_nearest(client: Any) -> None:
    with pytest.raises(ConfigurationError, match="did you mean bootstrap_servers"):
        client(bootstrap_server="127.0.0.1:1")


@pytest.mark.parametrize("client", [Producer, Consumer, Admin])
def test_client_with_a_setting_unknown_to_librdkafka_names_it(client: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"no\.such\.thing"):
        client(kafka={"no.such.thing": 1})


def test_config_given_with_keyword_arguments_is_changed_by_them() -> None:
    config = ProducerConfig.of(ProducerConfig(linger_ms=1, batch_size=7), {"linger_ms": 2})
    assert (config.linger_ms, config.batch_size) == (2, 7)


def test_config_of_another_client_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Give a ProducerConfig"):
        Producer(ConsumerConfig())  # type: ignore[arg-type]


def test_config_cannot_be_changed_and_hides_its_password() -> None:
    config = ProducerConfig(sasl_password="secret", partitioner=Partitioner.MODULO)
    with pytest.raises(AttributeError):
        config.acks = AckMode.NONE  # type: ignore[misc]
    assert "secret" not in repr(config)
