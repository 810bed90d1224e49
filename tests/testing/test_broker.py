"""A broker for tests: it serves real clients, keeps what it is told to keep, and leaves nothing behind."""

import asyncio
import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from kafka import KafkaConsumer, KafkaProducer
from tests.testing.records import consume, produce

from penstock.model.errors import OperatingError, UsageError
from penstock.testing import Broker

pytestmark = pytest.mark.filterwarnings("ignore:read_text is deprecated:DeprecationWarning")


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


def open_descriptors() -> set[str]:
    """What this process has open, but for what is opened to look."""
    links = (f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd"))
    return {os.readlink(link) for link in links if os.path.islink(link)} - {f"/proc/{os.getpid()}/fd"}


def test_broker_serves_confluent_kafka(broker: Broker) -> None:
    topic = broker.create_topic()
    assert produce(broker.bootstrap_servers, topic, "one", "two") == [0, 1]
    assert consume(broker.bootstrap_servers, topic, 2) == ["one", "two"]


def test_broker_serves_kafka_python(broker: Broker) -> None:
    topic = broker.create_topic()
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers)
    assert producer.send(topic, b"three valves").get(10).offset == 0
    producer.close()
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=broker.bootstrap_servers,
        group_id="readers",
        auto_offset_reset="earliest",
        consumer_timeout_ms=10_000,
    )
    assert next(iter(consumer)).value == b"three valves"
    consumer.close()


async def roundtrip(bootstrap: str, topic: str) -> bytes:
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap)
    await producer.start()
    await producer.send_and_wait(topic, b"a pump")
    await producer.stop()
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    await consumer.start()
    try:
        value: bytes = (await asyncio.wait_for(consumer.getone(), 10)).value
        return value
    finally:
        await consumer.stop()


def test_broker_serves_aiokafka_inside_async_with() -> None:
    async def run() -> bytes:
        async with Broker() as running:
            return await roundtrip(running.bootstrap_servers, running.create_topic())

    assert asyncio.run(run()) == b"a pump"


def test_start_that_is_cancelled_leaves_no_thread() -> None:
    before = set(threading.enumerate())

    async def run() -> None:
        async with asyncio.timeout(0), Broker():
            pytest.fail("the block must not be entered")

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert set(threading.enumerate()) == before


def test_topic_made_with_settings_and_partitions_has_them(broker: Broker) -> None:
    name = broker.topic("invoices")
    assert broker.create_topic(name, 3, retention_ms=60_000, cleanup_policy="compact") == name
    image = broker.thread_home.look(lambda running: running.image)
    assert len(image.topics[name].partitions) == 3
    assert image.topic_configs(name) == {"retention.ms": "60000", "cleanup.policy": "compact"}


def test_topic_that_exists_is_refused_with_its_name(broker: Broker) -> None:
    name = broker.create_topic()
    with pytest.raises(OperatingError, match=f"{name}.*TOPIC_ALREADY_EXISTS"):
        broker.create_topic(name)


def test_deleted_topic_can_be_deleted_again(broker: Broker) -> None:
    name = broker.create_topic()
    broker.delete_topic(name)
    broker.delete_topic(name)
    assert name not in broker.thread_home.look(lambda running: running.image.topics)


def test_names_of_topics_are_unique_and_legal(broker: Broker) -> None:
    names = {broker.topic("test_x[a/b c]") for _ in range(100)}
    assert len(names) == 100
    assert all(name.startswith("test_x-a-b-c-") for name in names)


def test_settings_override_defaults_and_count_at_restart() -> None:
    with Broker(settings={"auto.create.topics.enable": False}) as broker:
        assert not _config(broker, "auto.create.topics.enable")
        broker.settings["auto.create.topics.enable"] = True
        broker.restart()
        assert _config(broker, "auto.create.topics.enable")


def _config(broker: Broker, name: str) -> bool:
    return broker.thread_home.look(lambda running: running.config.boolean(name))


@pytest.mark.parametrize("process", [False, True], ids=["thread", "process"])
def test_unknown_setting_is_refused_where_it_was_given_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, process: bool
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(threading.enumerate())
    misconfigured = Broker(settings={"no.such.setting": 1}, process=process)
    with pytest.raises(UsageError, match=r"no\.such\.setting in the broker's settings"), misconfigured:
        pytest.fail("the block must not be entered")
    assert set(threading.enumerate()) == before
    assert list(tmp_path.iterdir()) == []


def test_two_brokers_at_once_are_two_clusters() -> None:
    with Broker() as one, Broker() as other:
        topic = one.create_topic()
        assert one.port != other.port
        assert topic not in other.thread_home.look(lambda running: running.image.topics)


def test_broker_listens_on_loopback_only(broker: Broker) -> None:
    assert broker.bootstrap_servers == f"127.0.0.1:{broker.port}"
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", broker.port), timeout=2).close()


@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])
def test_block_that_raises_leaves_no_thread_and_no_descriptor(on_disk: bool) -> None:
    threads, descriptors = set(threading.enumerate()), open_descriptors()
    with pytest.raises(KeyboardInterrupt), Broker(on_disk=on_disk) as broker:
        _be_interrupted(broker)
    assert set(threading.enumerate()) == threads
    left = {link for link in open_descriptors() - descriptors if not link.startswith(("socket:", "pipe:"))}
    assert not left


def _be_interrupted(broker: Broker) -> None:
    produce(broker.bootstrap_servers, broker.create_topic(), "x")
    raise KeyboardInterrupt


def test_broker_in_memory_touches_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Broker() as broker:
        produce(broker.bootstrap_servers, broker.create_topic(), "x")
    assert list(tmp_path.iterdir()) == []


def test_temporary_directory_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Broker(on_disk=True) as broker:
        produce(broker.bootstrap_servers, broker.create_topic(), "x")
        assert list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_named_directory_is_there_for_the_next_broker(tmp_path: Path) -> None:
    with Broker(directory=tmp_path / "data") as broker:
        topic = broker.create_topic()
        produce(broker.bootstrap_servers, topic, "kept")
    with Broker(directory=tmp_path / "data") as broker:
        assert broker.thread_home.look(lambda running: running.log_directory.was_clean)
        assert consume(broker.bootstrap_servers, topic, 1) == ["kept"]


def test_broker_that_was_closed_can_be_started_again() -> None:
    broker = Broker()
    with broker:
        first = broker.create_topic()
    with broker:
        assert first not in broker.thread_home.look(lambda running: running.image.topics)


def test_closed_broker_says_what_to_do() -> None:
    with pytest.raises(UsageError, match="with statement"):
        _ = Broker().bootstrap_servers


def test_reset_keeps_the_port_and_nothing_else() -> None:
    with Broker() as broker:
        port, topic = broker.port, broker.create_topic()
        broker.clock.advance(days=3)
        broker.faults.drop("Produce")
        broker.reset()
        assert broker.port == port
        assert topic not in broker.thread_home.look(lambda running: running.image.topics)
        assert broker.clock.offset.total_seconds() == 0
        assert produce(broker.bootstrap_servers, broker.create_topic(), "x") == [0]


def test_log_is_kept_out_of_the_tests_own(caplog: pytest.LogCaptureFixture) -> None:
    with Broker() as broker:
        broker.create_topic()
        assert "started" in broker.log
    assert not [record for record in caplog.records if record.name.startswith("penstock")]
