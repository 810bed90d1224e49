"""A delivery is a future like any other."""

import asyncio
import concurrent.futures
import subprocess
import sys
import threading
import time

import pytest

from penstock import Producer, RecordMetadata
from penstock.client.producing.delivery import Delivery


def test_delivery_works_with_wait_and_as_completed(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker) as producer:
        deliveries = [producer.send(topic, b"x") for _ in range(20)]
        done, left = concurrent.futures.wait(deliveries, timeout=20)
        assert (len(done), len(left)) == (20, 0)
        more = [producer.send(topic, b"y") for _ in range(20)]
        futures: list[concurrent.futures.Future[RecordMetadata]] = [*more]
        offsets = [each.result(0).offset for each in concurrent.futures.as_completed(futures, timeout=20)]
    assert sorted(offsets) == list(range(20, 40))


def test_delivery_can_be_awaited_through_a_wrapper(broker: str, topic: str) -> None:
    async def send(producer: Producer) -> RecordMetadata:
        return await asyncio.wrap_future(producer.send(topic, b"x"))

    with Producer(bootstrap_servers=broker) as producer:
        assert asyncio.run(send(producer)).offset == 0


def test_callback_is_called_once_whether_it_comes_early_or_late(broker: str, topic: str) -> None:
    called: list[int] = []
    with Producer(bootstrap_servers=broker, linger_ms=100) as producer:
        delivery = producer.send(topic, b"x")
        delivery.add_done_callback(lambda each: called.append(each.result().offset))
        delivery.result(20)
        producer.flush()
        delivery.add_done_callback(lambda each: called.append(each.result().offset))
    assert called == [0, 0]


def test_callback_may_send_and_flush(broker: str, topic: str) -> None:
    """In a process of its own: librdkafka's binding ends one that calls it from inside one of its calls."""
    program = f"""
from penstock import Producer
with Producer(bootstrap_servers={broker!r}, buffer_records=600) as producer:
    sent = []
    def again(delivery):
        sent.append(producer.send({topic!r}, b"again"))
        if len(sent) == 300:
            producer.flush()
    for _ in range(500):
        producer.send({topic!r}, b"x").add_done_callback(again)
    producer.flush()
    producer.flush()
    assert len(sent) == 500
    print(sorted(each.result().offset for each in sent)[-1])
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.stdout == "999\n", ended.stderr


def test_callback_may_wait_for_what_it_sends_though_nobody_else_fetches(broker: str, topic: str) -> None:
    waited: concurrent.futures.Future[int] = concurrent.futures.Future()
    with Producer(bootstrap_servers=broker) as producer:
        sent = producer.send(topic, b"x")
        sent.add_done_callback(lambda _: waited.set_result(producer.send(topic, b"y").result(10).offset))
        assert waited.result(20) == 1


def test_flushing_waits_for_callbacks(broker: str, topic: str) -> None:
    called: list[int] = []

    def call(delivery: concurrent.futures.Future[RecordMetadata]) -> None:
        time.sleep(0.01)
        called.append(delivery.result().offset)

    with Producer(bootstrap_servers=broker) as producer:
        for _ in range(20):
            producer.send(topic, b"x").add_done_callback(call)
        producer.flush()
        assert called == list(range(20))


def test_flushing_waits_for_callbacks_that_another_thread_leaves_behind(broker: str) -> None:
    called = threading.Event()

    class Due:
        call_back = called.set

    with Producer(bootstrap_servers=broker) as producer:
        thread = producer._thread
        with thread._calls:
            thread.callbacks_due.append(Due)
            flushing = threading.Thread(target=producer.flush)
            flushing.start()
            flushing.join(0.2)
            assert flushing.is_alive()
        flushing.join(20)
        assert called.is_set()


def test_delivery_ends_though_nobody_waits_or_sends(broker: str, topic: str) -> None:
    ended = threading.Event()
    with Producer(bootstrap_servers=broker) as producer:
        producer.send(topic, b"x").add_done_callback(lambda _: ended.set())
        assert ended.wait(20)


def test_delivery_cannot_be_cancelled(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker, linger_ms=200) as producer:
        delivery = producer.send(topic, b"x")
        assert not delivery.cancel()
        assert (delivery.cancelled(), delivery.running(), delivery.done()) == (False, True, False)
        assert "not acknowledged yet" in repr(delivery)
        assert delivery.result(20).offset == 0
        assert (delivery.running(), delivery.done()) == (False, True)


def test_many_threads_may_wait_for_one_delivery(broker: str, topic: str) -> None:
    offsets: list[int] = []
    with Producer(bootstrap_servers=broker, linger_ms=100) as producer:
        delivery = producer.send(topic, b"x")
        threads = [
            threading.Thread(target=lambda: offsets.append(delivery.result(20).offset)) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert offsets == [0] * 8


@pytest.mark.parametrize("waits", [True, False])
def test_delivery_holds_nothing_it_does_not_need(broker: str, topic: str, waits: bool) -> None:
    with Producer(bootstrap_servers=broker) as producer:
        delivery = producer.send(topic, b"x")
        if waits:
            delivery.result(20)
        producer.flush()
    assert isinstance(delivery, Delivery)
    assert delivery.result(0) == delivery.result(0)
