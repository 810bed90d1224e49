"""Ends that no broker can prepare for: killed, frozen, and back again; in threads and as processes."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker_process import wait_until
from tests.testing.records import consume, new_producer, produce

from penstock.model.errors import UsageError
from penstock.testing import Broker

KINDS: dict[str, dict[str, bool]] = {"memory": {}, "disk": {"on_disk": True}, "process": {"process": True}}


@pytest.fixture(params=KINDS)
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with Broker(**KINDS[request.param]) as running:  # type: ignore[arg-type]
        yield running


def test_killed_broker_comes_back_with_port_and_data(broker: Broker) -> None:
    port, topic = broker.port, broker.create_topic()
    produce(broker.bootstrap_servers, topic, "one", "two")
    broker.kill()
    assert not broker.is_running
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=2)
    broker.restart()
    assert broker.port == port
    assert consume(broker.bootstrap_servers, topic, 2) == ["one", "two"]
    assert produce(broker.bootstrap_servers, topic, "three") == [2]


def test_killed_broker_hangs_up_on_its_clients(broker: Broker) -> None:
    with socket.create_connection(("127.0.0.1", broker.port), timeout=10) as client:
        client.sendall(b"\x00\x00")  # half of a length: the broker has something unread of us
        wait_until(lambda: broker.is_running, what="the broker")
        broker.kill()
        try:
            assert client.recv(1) == b""
        except ConnectionResetError:
            return


def test_killed_thread_resets_connections() -> None:
    with Broker() as broker, socket.create_connection(("127.0.0.1", broker.port), timeout=10) as client:
        client.sendall(b"\x00\x00")
        wait_until(
            lambda: broker.thread_home.look(lambda running: running.server.connection_count) == 1,
            what="the connection",
        )
        broker.kill()
        with pytest.raises(ConnectionResetError):
            client.recv(1)


def test_killed_thread_had_no_clean_stop() -> None:
    with Broker(on_disk=True) as broker:
        broker.kill()
        broker.restart()
        assert not broker.thread_home.look(lambda running: running.log_directory.was_clean)
        broker.stop()
        broker.restart()
        assert broker.thread_home.look(lambda running: running.log_directory.was_clean)


def test_killed_thread_takes_its_unwritten_batch_along() -> None:
    """What was appended in memory only, and never acknowledged, is gone; the log goes on before it."""
    with Broker() as broker:
        topic = broker.create_topic()
        produce(broker.bootstrap_servers, topic, "safe")
        held = threading.Event()
        flusher = broker.thread_home.look(lambda running: running.flusher)
        flusher._start_round = held.set  # type: ignore[method-assign] # nothing is written from now on
        producer = new_producer(broker.bootstrap_servers)
        producer.produce(topic, b"lost")
        while not held.is_set():
            producer.poll(0.01)
        broker.kill()
        producer.purge()
        producer.flush(0)
        broker.restart()
        assert consume(broker.bootstrap_servers, topic, 1) == ["safe"]
        assert produce(broker.bootstrap_servers, topic, "next") == [1]


def test_broker_killed_twice_and_closed_is_no_error(broker: Broker) -> None:
    broker.kill()
    broker.kill()


def test_paused_broker_answers_when_it_goes_on(broker: Broker) -> None:
    topic = broker.create_topic()
    producer = new_producer(broker.bootstrap_servers)
    producer.produce(topic, b"before")
    assert producer.flush(10) == 0
    broker.pause()
    assert broker.is_paused
    delivered: list[object] = []
    producer.produce(topic, b"meanwhile", on_delivery=lambda error, _: delivered.append(error))
    assert producer.flush(0.3) == 1
    assert not delivered
    broker.resume()
    assert producer.flush(10) == 0
    assert delivered == [None]


def test_paused_broker_can_be_killed_and_restarted(broker: Broker) -> None:
    topic = broker.create_topic()
    produce(broker.bootstrap_servers, topic, "one")
    broker.pause()
    broker.kill()
    broker.restart()
    assert not broker.is_paused
    assert consume(broker.bootstrap_servers, topic, 1) == ["one"]


def test_paused_broker_closes_at_the_end_of_its_block() -> None:
    before = set(threading.enumerate())
    with Broker() as broker:
        broker.pause()
    assert set(threading.enumerate()) == before


def test_paused_thread_refuses_questions_instead_of_hanging() -> None:
    with Broker() as broker:
        broker.pause()
        with pytest.raises(UsageError, match="resume"):
            broker.create_topic()


def test_process_is_gone_after_its_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Broker(process=True) as broker:
        pid = broker.pid
        assert pid != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert list(tmp_path.iterdir()) == []


def test_process_says_what_it_cannot_offer() -> None:
    broker = Broker(process=True)
    for ask in (lambda: broker.faults, lambda: broker.requests, lambda: broker.clock):
        with pytest.raises(UsageError, match="process=True"):
            ask()


def test_process_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no directory")
    with pytest.raises(FileExistsError), Broker(process=True, directory=tmp_path / "data"):
        pytest.fail("the block must not be entered")
