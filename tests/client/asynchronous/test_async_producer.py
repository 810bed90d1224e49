"""The producer in an event loop."""

import asyncio
import gc
import subprocess
import sys
import threading
import warnings
from contextlib import suppress

import pytest
from tests.broker_process import wait_until
from tests.client.conftest import MakeTopic
from tests.client.reading import read_all, values
from tests.conftest import MakeServer, UniqueName

from penstock import Admin, AsyncAdmin, AsyncConsumer, AsyncProducer, Partitioner, TopicPartition
from penstock.client.asynchronous.delivery import AsyncDelivery
from penstock.client.errors import (
    BufferFull,
    ClosedError,
    DeliveryError,
    DeliveryToUnknownTopic,
    PenstockClientError,
    RequestTimedOut,
    SerializationError,
    TransactionAborted,
    UnknownTopic,
)
from penstock.testing import Broker


def test_send_can_be_awaited_and_kept(broker: str, topic: str) -> None:
    async def run() -> None:
        async with AsyncProducer(bootstrap_servers=broker) as producer:
            assert (await producer.send(topic, b"a", timestamp_ms=7)) == (topic, 0, 0, 7)
            deliveries = [producer.send(topic, b"%d" % number) for number in range(1000)]
            found = await asyncio.gather(*deliveries)
            assert [each.offset for each in found] == list(range(1, 1001))
            assert await producer.send_batch([(topic, b"x"), (topic, b"y", b"key")]) == [1001, 1002]
            assert producer.metrics().records_acknowledged == 1003

    asyncio.run(run())
    assert values(read_all(broker, topic, 1003))[:2] == [b"a", b"0"]


def test_loop_is_woken_for_many_records_at_once(broker: str, topic: str) -> None:
    async def run() -> int:
        async with AsyncProducer(bootstrap_servers=broker, linger_ms=50) as producer:
            await producer.send(topic, b"first")
            loop = asyncio.get_running_loop()
            woken = 0
            call_soon = loop.call_soon_threadsafe

            def count(*arguments, **options):  # type: ignore[no-untyped-def]
                nonlocal woken
                woken += 1
                return call_soon(*arguments, **options)

            loop.call_soon_threadsafe = count  # type: ignore[method-assign, assignment]
            await asyncio.gather(*[producer.send(topic, b"x" * 100) for _ in range(2000)])
            loop.call_soon_threadsafe = call_soon  # type: ignore[method-assign]
            return woken

    assert asyncio.run(run()) < 500


def test_failure_is_raised_where_it_is_awaited(broker: str, unique: UniqueName) -> None:
    async def run() -> None:
        quick = {"topic.metadata.propagation.max.ms": 500}
        async with AsyncProducer(bootstrap_servers=broker, kafka=quick) as producer:
            with pytest.raises(DeliveryToUnknownTopic):
                await producer.send(unique("nowhere"), b"x")
            with pytest.raises(DeliveryError):
                await producer.send_batch([(unique("nowhere"), b"x")])
            with pytest.raises(SerializationError):
                producer.send("t", 3.5)
            assert producer.metrics().records_failed == 2

    asyncio.run(run())


def test_cancelled_wait_neither_stops_the_record_nor_the_others(broker: str, topic: str) -> None:
    async def run() -> None:
        async with AsyncProducer(bootstrap_servers=broker, linger_ms=200) as producer:
            task = asyncio.ensure_future(_awaited(producer, topic))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await producer.send(topic, b"second")).offset == 1

    asyncio.run(run())
    assert values(read_all(broker, topic, 2)) == [b"cancelled", b"second"]


async def _awaited(producer: AsyncProducer, topic: str) -> None:
    await producer.send(topic, b"cancelled")


def test_full_buffer_keeps_order_and_has_an_end(broker: str, topic: str) -> None:
    async def run() -> None:
        async with AsyncProducer(bootstrap_servers=broker, buffer_records=50, linger_ms=1) as producer:
            deliveries = []
            for number in range(500):
                deliveries.append(producer.send(topic, b"%d" % number))
                await producer.drain()
            assert [each.offset for each in await asyncio.gather(*deliveries)] == list(range(500))
            first = producer.send(topic, b"first")
            with pytest.raises(BufferFull):  # noqa: PT012
                for _ in range(200):
                    producer.send(topic, b"x")
            assert (await first).offset == 500

    asyncio.run(run())
    found = values(read_all(broker, topic, 600))
    assert found[:500] == [b"%d" % number for number in range(500)]


@pytest.mark.slow
def test_buffer_that_stays_full_fails_in_time_and_blocks_nobody(make_server: MakeServer) -> None:
    server = make_server(is_alone=True)
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        admin.create_topic("full")

    async def run() -> None:
        settings = {"buffer_records": 10, "max_block_ms": 300}
        async with AsyncProducer(bootstrap_servers=server.bootstrap, **settings) as producer:  # type: ignore[arg-type]
            await producer.send("full", b"first")
            ticks = asyncio.ensure_future(_ticks())
            with server.paused():
                held = [producer.send("full", b"x") for _ in range(10)]
                with pytest.raises(BufferFull):
                    await producer.send("full", b"too much")
            ticks.cancel()
            await asyncio.gather(*held)
            assert (await ticks) > 5

    asyncio.run(run())


async def _ticks() -> int:
    """How often the loop came round until this was cancelled."""
    count = 0
    with suppress(asyncio.CancelledError):
        while True:
            await asyncio.sleep(0.01)
            count += 1
    return count


@pytest.mark.slow
def test_every_future_ends_when_the_broker_is_gone(make_server: MakeServer) -> None:
    server = make_server(is_alone=True)

    async def run() -> None:
        producer = AsyncProducer(bootstrap_servers=server.bootstrap, linger_ms=0)
        await producer.send("gone", b"first")
        server.kill()
        deliveries = [producer.send("gone", b"x") for _ in range(20)]
        with pytest.raises(RequestTimedOut):
            await producer.flush(0.1)
        with pytest.raises(RequestTimedOut, match="of closing"):
            await producer.close(0.1)
        assert all(delivery.done() for delivery in deliveries)
        assert all(isinstance(delivery.exception(), DeliveryError) for delivery in deliveries)
        with pytest.raises(ClosedError):
            producer.send("gone", b"x")

    asyncio.run(run())


def test_partitioner_that_must_ask_does_not_block(broker: str, make_topic: MakeTopic) -> None:
    topic = make_topic(3)

    async def run() -> list[int]:
        async with AsyncProducer(bootstrap_servers=broker, partitioner=Partitioner.ROUND_ROBIN) as producer:
            found = await asyncio.gather(*[producer.send(topic, b"x") for _ in range(6)])
            return [each.partition for each in found]

    assert asyncio.run(run()) == [0, 1, 2, 0, 1, 2]


def test_partitioner_that_must_ask_is_no_reason_to_refuse_while_there_is_room(
    broker: str, make_topic: MakeTopic
) -> None:
    topic = make_topic(3)

    async def run() -> None:
        async with AsyncProducer(
            bootstrap_servers=broker,
            partitioner=Partitioner.ROUND_ROBIN,
            block_when_full=False,
            buffer_records=6,
        ) as producer:
            deliveries = [producer.send(topic, b"x") for _ in range(6)]
            with pytest.raises(BufferFull):
                producer.send(topic, b"x")
            found = [each.partition for each in await asyncio.gather(*deliveries)]
            assert found == [0, 1, 2, 0, 1, 2]
            assert (await producer.send(topic, b"x")).partition == 0

    asyncio.run(run())


def test_topic_that_does_not_exist_holds_up_no_other(
    broker: str, make_topic: MakeTopic, unique: UniqueName
) -> None:
    topic, other = make_topic(3), make_topic()

    async def run() -> None:
        producer = AsyncProducer(
            bootstrap_servers=broker, partitioner=Partitioner.ROUND_ROBIN, max_block_ms=600_000
        )
        stuck = [producer.send(unique("nowhere"), b"x") for _ in range(3)]
        for count in range(1, 40):
            assert (await producer.send(topic, b"%d" % count)).partition == (count - 1) % 3
            assert (await producer.send(other, b"%d" % count)).offset == count - 1
            await producer.drain()
        assert not any(each.done() for each in stuck)
        with pytest.raises(RequestTimedOut):
            await producer.close(0.1)
        assert all(isinstance(each.exception(), UnknownTopic) for each in stuck)

    asyncio.run(run())


def test_record_waits_only_so_long_for_a_topic_and_in_order_until_it_is_there(
    broker: str, admin: Admin, unique: UniqueName
) -> None:
    late = unique("late")

    async def run() -> None:
        async with AsyncProducer(
            bootstrap_servers=broker, partitioner=Partitioner.MODULO, max_block_ms=200
        ) as producer:
            with pytest.raises(UnknownTopic):
                await producer.send(unique("nowhere"), b"x")
        async with AsyncProducer(
            bootstrap_servers=broker, partitioner=Partitioner.MODULO, buffer_records=20
        ) as producer:
            deliveries = [producer.send(late, b"%d" % number) for number in range(20)]
            with pytest.raises(BufferFull):
                producer.send(late, b"too much")
            draining = asyncio.ensure_future(producer.drain())
            await asyncio.sleep(0)
            assert not draining.done()
            await asyncio.to_thread(admin.create_topic, late)
            await draining
            deliveries.append(producer.send(late, b"20", partition=0))
            found = await asyncio.gather(*deliveries)
            assert [each.offset for each in found] == list(range(21))

    asyncio.run(run())
    assert values(read_all(broker, late, 21)) == [b"%d" % number for number in range(21)]


def test_transaction_commits_aborts_and_copies_exactly_once(
    broker: str, make_topic: MakeTopic, unique: UniqueName
) -> None:
    topic, copy, group = make_topic(), make_topic(), unique("group")

    async def run() -> None:
        async with AsyncProducer(bootstrap_servers=broker) as feeder:
            await feeder.send_batch([(topic, b"%d" % number) for number in range(20)])
        producer = AsyncProducer(bootstrap_servers=broker, transactional_id=unique("id"))
        consumer = AsyncConsumer(
            bootstrap_servers=broker, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False
        )
        async with producer, consumer:
            await consumer.assign([(topic, 0)])
            fails = True
            while (await consumer.committed())[TopicPartition(topic, 0)] != 20:
                messages = await consumer.poll(10, 7)
                try:
                    async with producer.transaction() as transaction:
                        for message in messages:
                            producer.send(copy, message.value)
                        await transaction.send_offsets(consumer)
                        if fails := not fails:
                            raise ZeroDivisionError
                except ZeroDivisionError:
                    await consumer.rewind()

    asyncio.run(run())
    assert values(read_all(broker, copy, 20)) == [b"%d" % number for number in range(20)]


def test_transaction_is_committed_with_what_waited_to_be_sent(
    broker: str, make_topic: MakeTopic, unique: UniqueName
) -> None:
    topic = make_topic(2)

    async def run() -> list[bool]:
        async with AsyncProducer(
            bootstrap_servers=broker, transactional_id=unique("id"), partitioner=Partitioner.ROUND_ROBIN
        ) as producer:
            async with producer.transaction():
                kept = [producer.send(topic, b"kept") for _ in range(10)]
                assert producer._held_count
            await asyncio.gather(*kept)
            with suppress(ZeroDivisionError):
                async with producer.transaction():
                    dropped = [producer.send(topic, b"dropped") for _ in range(10)]
                    raise ZeroDivisionError
            async with producer.transaction():
                producer.send(topic, b"last")
            return [each.exception() is not None for each in await ended(dropped)]

    assert all(asyncio.run(run()))
    found = values(read_all(broker, topic, 11, partitions=2))
    assert sorted(found) == [b"kept"] * 10 + [b"last"]


async def ended(deliveries: list[AsyncDelivery]) -> list[AsyncDelivery]:
    await asyncio.gather(*deliveries, return_exceptions=True)
    return deliveries


def test_transaction_some_of_whose_records_could_not_be_sent_is_aborted(
    broker: str, make_topic: MakeTopic, unique: UniqueName
) -> None:
    topic = make_topic(2)

    async def send_both(producer: AsyncProducer) -> None:
        async with producer.transaction():
            await producer.send(topic, b"good")
            producer.send(unique("nowhere"), b"bad")

    async def run() -> None:
        async with AsyncProducer(
            bootstrap_servers=broker,
            transactional_id=unique("id"),
            partitioner=Partitioner.ROUND_ROBIN,
            max_block_ms=300,
        ) as producer:
            with pytest.raises(TransactionAborted, match="1 records of the transaction could not be sent"):
                await send_both(producer)
            async with producer.transaction():
                await producer.send(topic, b"again")

    asyncio.run(run())
    assert values(read_all(broker, topic, 1, partitions=2)) == [b"again"]


def test_aborted_transaction_leaves_nothing_that_waits_to_the_next(
    broker: str, admin: Admin, unique: UniqueName
) -> None:
    late = unique("late")

    async def run() -> None:
        async with AsyncProducer(
            bootstrap_servers=broker, transactional_id=unique("id"), partitioner=Partitioner.ROUND_ROBIN
        ) as producer:
            with suppress(ZeroDivisionError):
                async with producer.transaction():
                    stuck = producer.send(late, b"of the aborted one")
                    raise ZeroDivisionError
            assert isinstance(stuck.exception(), PenstockClientError)
            await asyncio.to_thread(admin.create_topic, late)
            async with producer.transaction():
                await producer.send(late, b"of the next")

    asyncio.run(run())
    assert values(read_all(broker, late, 1)) == [b"of the next"]


def test_cancelled_transaction_is_aborted(broker: str, topic: str, unique: UniqueName) -> None:
    async def run() -> None:
        async with AsyncProducer(bootstrap_servers=broker, transactional_id=unique("id")) as producer:
            sent = asyncio.Event()

            async def hang() -> None:
                async with producer.transaction():
                    await producer.send(topic, b"not seen")
                    sent.set()
                    await asyncio.sleep(60)

            task = asyncio.ensure_future(hang())
            await sent.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with producer.transaction():
                producer.send(topic, b"seen")

    asyncio.run(run())
    assert values(read_all(broker, topic, 1)) == [b"seen"]


def test_transaction_cancelled_while_it_begins_is_in_nobodys_way(unique: UniqueName) -> None:
    async def run(server: Broker, topic: str) -> None:
        async with AsyncProducer(
            bootstrap_servers=server.bootstrap_servers, transactional_id=unique("id")
        ) as producer:

            async def begin() -> None:
                async with producer.transaction():
                    raise AssertionError("was cancelled before")

            with server.faults.delay("InitProducerId", seconds=1.0, times=1) as introduction:
                task = asyncio.ensure_future(begin())
                await asyncio.to_thread(introduction.wait)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            async with producer.transaction():
                producer.send(topic, b"seen")

    with Broker() as server:
        topic = server.create_topic("cancelled")
        asyncio.run(run(server, topic))
        assert values(read_all(server.bootstrap_servers, topic, 1)) == [b"seen"]


def test_cancelled_commit_goes_on_and_the_next_transaction_comes_after_it(unique: UniqueName) -> None:
    async def run(server: Broker, topic: str) -> None:
        async with AsyncProducer(
            bootstrap_servers=server.bootstrap_servers, transactional_id=unique("id")
        ) as producer:

            async def commit() -> None:
                async with producer.transaction() as transaction:
                    producer.send(topic, b"first")
                    await transaction.commit()

            with server.faults.delay("EndTxn", seconds=0.5, times=1) as end:
                task = asyncio.ensure_future(commit())
                await asyncio.to_thread(end.wait)
                task.cancel()
                with pytest.raises(asyncio.CancelledError) as cancelled:
                    await task
                assert not getattr(cancelled.value, "__notes__", [])
            async with producer.transaction():
                producer.send(topic, b"second")

    with Broker() as server:
        topic = server.create_topic("cancelled")
        asyncio.run(run(server, topic))
        assert values(read_all(server.bootstrap_servers, topic, 2)) == [b"first", b"second"]


def test_what_send_returns_is_a_future_to_all_of_asyncio(broker: str, topic: str) -> None:
    async def run() -> None:
        async with AsyncProducer(bootstrap_servers=broker, linger_ms=100) as producer:
            delivery = producer.send(topic, b"x")
            known: object = delivery
            assert asyncio.isfuture(known)
            assert not delivery.done()
            with pytest.raises(asyncio.InvalidStateError):
                delivery.result()
            called: list[object] = []
            delivery.add_done_callback(called.append)
            delivery.add_done_callback(_never)
            assert delivery.remove_done_callback(_never) == 1
            done, left = await asyncio.wait([asyncio.ensure_future(delivery)], timeout=10)
            assert (list(map(id, done)), left, called) == ([id(delivery)], set(), [delivery])
            assert delivery.result() == await delivery == await asyncio.shield(delivery)
            assert delivery.exception() is None
            assert not delivery.cancel()
            late: asyncio.Queue[object] = asyncio.Queue()
            delivery.add_done_callback(late.put_nowait)
            assert await late.get() is delivery

    asyncio.run(run())


def _never(_: object) -> None:
    raise AssertionError("was taken back")


def test_timeout_of_one_wait_is_a_timeout_and_no_more(broker: str, topic: str) -> None:
    async def run() -> None:
        async with AsyncProducer(bootstrap_servers=broker, linger_ms=500) as producer:
            delivery = producer.send(topic, b"x")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(delivery, 0.01)
            assert delivery.cancelled()
            with pytest.raises(asyncio.CancelledError):
                delivery.result()
            kept = producer.send(topic, b"y")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.shield(kept), 0.01)
            assert (await kept).offset == 1

    asyncio.run(run())


def test_failure_nobody_asks_for_is_logged(
    broker: str, unique: UniqueName, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        quick = {"topic.metadata.propagation.max.ms": 100}
        async with AsyncProducer(bootstrap_servers=broker, kafka=quick) as producer:
            asked = producer.send(unique("nowhere"), b"x")
            producer.send(unique("nowhere"), b"x")
            with pytest.raises(DeliveryError):
                await asked

    asyncio.run(run())
    assert len([record for record in caplog.records if "nobody asked" in record.message]) == 1


def test_closing_gives_up_a_held_record_that_is_refused_and_sends_those_behind_it(
    broker: str, topic: str
) -> None:
    async def run() -> list[AsyncDelivery]:
        producer = AsyncProducer(bootstrap_servers=broker, buffer_records=10, linger_ms=500)
        await producer.send(topic, b"so that its partitions are known")
        for _ in range(12):
            producer.send(topic, b"fills the buffer")
        held = [producer.send(topic, b"x", partition=77), producer.send(topic, b"x")]
        assert producer._held_count
        await producer.close()
        return held

    refused, sent = asyncio.run(run())
    assert isinstance(refused.exception(), UnknownTopic)
    assert sent.result().offset == 13


def threads_of(client_id: str) -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.endswith(client_id)]


def test_closing_that_is_cancelled_goes_on_and_leaves_no_thread(
    broker: str, topic: str, unique: UniqueName
) -> None:
    name = unique("client")

    async def run() -> AsyncDelivery:
        producer = AsyncProducer(bootstrap_servers=broker, client_id=name, linger_ms=300)
        delivery = producer.send(topic, b"x")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await producer.close()
        assert (await delivery).offset == 0
        return delivery

    assert asyncio.run(run()).done()
    wait_until(lambda: not threads_of(name), what="no thread")


def test_clients_that_are_forgotten_say_so_and_leave_no_thread(
    broker: str, topic: str, unique: UniqueName
) -> None:
    name = unique("client")

    async def use() -> AsyncDelivery:
        producer = AsyncProducer(bootstrap_servers=broker, client_id=name, linger_ms=300)
        consumer = AsyncConsumer(bootstrap_servers=broker, client_id=name)
        await consumer.assign([(topic, 0)])
        await AsyncAdmin(bootstrap_servers=broker, client_id=name).list_topics()
        await producer.flush()
        return producer.send(topic, b"last words")

    async def run() -> None:
        assert (await (await use())).offset == 0

    def are_gone() -> bool:
        gc.collect()
        return not threads_of(name)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        asyncio.run(run())
        wait_until(are_gone, what="no thread")
    assert any("AsyncProducer" in str(each.message) for each in said)


def test_statistics_of_a_producer_that_sends_nothing_are_fetched_too(broker: str) -> None:
    async def run() -> None:
        async with AsyncProducer(bootstrap_servers=broker, statistics_interval_ms=20) as producer:
            async with asyncio.timeout(20):
                while producer._statistics._came is None:
                    await asyncio.sleep(0.05)
            assert len(producer) == producer.metrics().records_waiting == 0

    asyncio.run(run())


@pytest.mark.parametrize(
    "end",
    [
        "producer = asyncio.run(main())",
        "asyncio.run(main())",
        "asyncio.run(main()); gc.collect()",
        "asyncio.run(cancelled())",
    ],
)
def test_program_that_ends_without_closing_still_sends(broker: str, topic: str, end: str) -> None:
    program = f"""
import asyncio, contextlib, gc
from penstock import AsyncProducer
async def main():
    producer = AsyncProducer(bootstrap_servers={broker!r}, linger_ms=300, buffer_records=10)
    for _ in range(15):
        producer.send({topic!r}, b"last words")
    return producer
async def cancelled():
    producer = await main()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0):
            await producer.close()
{end}
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert values(read_all(broker, topic, 15)) == [b"last words"] * 15
