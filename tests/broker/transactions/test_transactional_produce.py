"""Batches of transactions, from the socket into the log: who may write, in which order, who sees it when."""

import asyncio
from typing import Any

import pytest
from tests.broker.transactions.producer_client import (
    Client,
    connected,
    fetch_request,
    produce_code,
    produce_request,
    read,
    understand,
)
from tests.broker.transactions.stories import PROTOCOLS, begun, settle, tell
from tests.raw_kafka import build_batch

from penstock.broker.broker import Broker
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.messages.end_txn import EndTxnRequest
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData


@PROTOCOLS
def test_committed_records_are_seen_when_the_transaction_ends_and_not_before(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=is_second)
        assert await producer.produce(b"one", b"two") == ErrorCode.NONE
        open_ = await read(client)
        assert (open_.values, open_.last_stable_offset, open_.high_watermark) == ([], 0, 2)
        assert (await read(client, committed=False)).values == [b"one", b"two"]
        assert await producer.end() == ErrorCode.NONE
        closed = understand(await client.ask(fetch_request(wait_ms=5_000), 11))
        assert (closed.values, closed.last_stable_offset, closed.aborted) == ([b"one", b"two"], 3, [])
        assert closed.markers == [2]

    tell(story)


@PROTOCOLS
def test_aborted_records_are_named_to_readers_of_committed_ones(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=is_second)
        writer = producer.producer_id
        assert await producer.produce(b"never") == ErrorCode.NONE
        assert await producer.end(is_commit=False) == ErrorCode.NONE
        await settle(client, 2)
        if not is_second:
            assert await producer.add() == ErrorCode.NONE
        assert await producer.produce(b"seen") == ErrorCode.NONE
        assert await producer.end() == ErrorCode.NONE
        await settle(client, 4)
        found = await read(client)
        assert found.values == [b"seen"]
        assert found.aborted == [(writer, 0)]
        assert found.markers == [1, 3]
        unfiltered = await read(client, committed=False)
        assert (unfiltered.values, unfiltered.aborted) == ([b"never", b"seen"], [])

    tell(story)


@PROTOCOLS
def test_waiting_reader_is_woken_by_the_end_of_the_transaction(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=is_second)
        assert await producer.produce(b"one") == ErrorCode.NONE
        async with connected(broker) as reader:
            reader.send(fetch_request(wait_ms=9_000), 11)
            waiting = asyncio.ensure_future(reader.receive())
            await producer.produce(b"two")
            assert not waiting.done()
            began = asyncio.get_running_loop().time()
            assert await producer.end() == ErrorCode.NONE
            assert understand(await waiting).values == [b"one", b"two"]
            assert asyncio.get_running_loop().time() - began < 5

    tell(story)


def test_second_protocol_goes_on_with_a_raised_epoch_from_sequence_zero() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=True)
        former, epoch = producer.producer_id, producer.epoch
        for number in range(3):
            assert await producer.produce(b"%d" % number) == ErrorCode.NONE
            assert await producer.end() == ErrorCode.NONE
            assert (producer.producer_id, producer.epoch) == (former, epoch + number + 1)
        await settle(client, 6)
        assert (await read(client)).values == [b"0", b"1", b"2"]

    tell(story)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (3, ErrorCode.INVALID_TXN_STATE),
        (10, ErrorCode.INVALID_TXN_STATE),
        (11, ErrorCode.TRANSACTION_ABORTABLE),
    ],
)
def test_first_protocol_refuses_a_partition_that_was_not_added(version: int, expected: ErrorCode) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        assert await producer.produce(b"x", partition=1, version=version) == expected
        assert (await read(client, partition=1, committed=False)).high_watermark == 0

    tell(story)


def test_batch_that_arrives_after_its_transaction_has_ended_is_kept_out() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        assert await producer.produce(b"in time") == ErrorCode.NONE
        assert await producer.end() == ErrorCode.NONE
        await settle(client, 2)
        assert await producer.produce(b"late") == ErrorCode.TRANSACTION_ABORTABLE
        found = await read(client)
        assert (found.last_stable_offset, found.high_watermark) == (2, 2)

    tell(story)


def test_late_batch_hangs_the_partition_where_verification_is_switched_off() -> None:
    """What verification is for: without it the same story leaves a transaction that nobody ends."""

    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        assert await producer.produce(b"in time") == ErrorCode.NONE
        assert await producer.end() == ErrorCode.NONE
        await settle(client, 2)
        assert await producer.produce(b"late") == ErrorCode.NONE
        found = await read(client)
        assert (found.last_stable_offset, found.high_watermark) == (2, 3)

    tell(story, **{"transaction.partition.verification.enable": "false"})


@PROTOCOLS
def test_pipelined_batches_of_a_new_transaction_keep_their_order(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=is_second)
        values = [b"%d" % number for number in range(20)]
        for value in values:
            producer.send(producer.batch(value))
        codes = [produce_code(await client.receive()) for _ in values]
        assert codes == [ErrorCode.NONE] * len(values)
        assert (await read(client, committed=False)).values == values

    tell(story)


def test_word_is_asked_once_for_all_partitions_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(broker: Broker, client: Client) -> None:
        asked: list[list[TopicPartition]] = []
        word_on = broker.transactions.word_on

        async def counted(question: Any, partitions: list[TopicPartition]) -> Any:
            asked.append(partitions)
            return await word_on(question, partitions)

        monkeypatch.setattr(broker.transactions, "word_on", counted)
        producer = await begun(client, is_second=True)
        for _ in range(2):
            batches = {index: producer.batch(b"x", partition=index) for index in (0, 1)}
            response = await client.ask(produce_request(batches, "t"), 12)
            assert [each.error_code for each in response.responses[0].partition_responses] == [0, 0]
        assert asked == [[TopicPartition("orders", 0), TopicPartition("orders", 1)]]

    tell(story)


def test_batches_that_wait_share_a_refusal_and_one_behind_them_may_not_slip_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(broker: Broker, client: Client) -> None:
        word_on = broker.transactions.word_on

        async def refused(question: Any, partitions: list[TopicPartition]) -> Any:
            monkeypatch.setattr(broker.transactions, "word_on", word_on)
            return dict.fromkeys(partitions, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

        producer = await begun(client)
        monkeypatch.setattr(broker.transactions, "word_on", refused)
        first, second, third = (producer.batch(value) for value in (b"1", b"2", b"3"))
        producer.send(first)
        producer.send(second)
        assert produce_code(await client.receive()) == ErrorCode.NOT_ENOUGH_REPLICAS
        assert produce_code(await client.receive()) == ErrorCode.NOT_ENOUGH_REPLICAS
        producer.send(third)
        assert produce_code(await client.receive()) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        for batch in (first, second, third):
            producer.send(batch)
            assert produce_code(await client.receive()) == ErrorCode.NONE
        assert (await read(client, committed=False)).values == [b"1", b"2", b"3"]

    tell(story)


def test_marker_between_question_and_answer_keeps_the_waiting_batch_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        answer = asyncio.Event()
        asked = asyncio.Event()
        word_on = broker.transactions.word_on

        async def late(question: Any, partitions: list[TopicPartition]) -> Any:
            words = await word_on(question, partitions)
            asked.set()
            await answer.wait()
            return words

        monkeypatch.setattr(broker.transactions, "word_on", late)
        producer.send(producer.batch(b"late"))
        await asked.wait()
        async with connected(broker) as other:
            ending = EndTxnRequest(
                transactional_id="t", producer_id=producer.producer_id, producer_epoch=producer.epoch
            )
            assert (await other.ask(ending, 3)).error_code == ErrorCode.NONE
            await settle(other, 1)
        answer.set()
        assert produce_code(await client.receive()) == ErrorCode.TRANSACTION_ABORTABLE
        assert (await read(client, committed=False)).values == []

    tell(story)


def test_unknown_producer_of_the_second_protocol_must_begin_at_sequence_zero() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=True)
        producer.send(producer.batch(b"x", sequence=5))
        assert produce_code(await client.receive()) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        producer.send(producer.batch(b"x", sequence=0))
        assert produce_code(await client.receive()) == ErrorCode.NONE

    tell(story)


def test_first_protocol_may_begin_at_any_sequence_where_the_log_has_forgotten_the_producer() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        producer.send(producer.batch(b"x", sequence=5))
        assert produce_code(await client.receive()) == ErrorCode.NONE

    tell(story)


def test_topics_may_be_named_by_id() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=True)
        data = PartitionProduceData(index=0, records=memoryview(producer.batch(b"x")))
        topic_id = broker.image.topics["orders"].topic_id
        topic = TopicProduceData(topic_id=topic_id, partition_data=(data,))
        request = ProduceRequest(transactional_id="t", acks=-1, timeout_ms=5_000, topic_data=(topic,))
        assert produce_code(await client.ask(request, 13)) == ErrorCode.NONE
        assert await producer.end() == ErrorCode.NONE
        await settle(client, 2)
        assert (await read(client)).values == [b"x"]

    tell(story)


def test_retry_inside_an_open_transaction_is_answered_like_the_first_time() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        batch = producer.batch(b"once")
        for _ in range(2):
            producer.send(batch)
            response = await client.receive()
            assert produce_code(response) == ErrorCode.NONE
            assert response.responses[0].partition_responses[0].base_offset == 0
        assert (await read(client, committed=False)).values == [b"once"]

    tell(story)


@PROTOCOLS
def test_batch_without_acks_waits_for_the_coordinator_too_and_is_not_answered(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=is_second)
        producer.send(producer.batch(b"one"), acks=0)
        client.expect_nothing()
        assert await producer.produce(b"two") == ErrorCode.NONE
        assert (await read(client, committed=False)).values == [b"one", b"two"]

    tell(story)


def test_batch_without_acks_that_is_refused_ends_the_connection() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        producer.send(producer.batch(b"x", partition=1), partition=1, acks=0)
        assert await client.is_closed_by_broker()

    tell(story)


@pytest.mark.parametrize("transactional_id", [None, ""])
def test_transactional_batch_in_a_request_without_transactional_id_is_refused(
    transactional_id: str | None,
) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        response = await client.ask(produce_request({0: producer.batch(b"x")}, transactional_id), 11)
        assert produce_code(response) == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED

    tell(story)


@pytest.mark.parametrize("name", ["somebody else's", "nobody's"])
def test_batch_of_a_producer_that_does_not_own_the_transactional_id_is_refused(name: str) -> None:
    async def story(broker: Broker, client: Client) -> None:
        await begun(client, "somebody else's")
        producer = await begun(client)
        response = await client.ask(produce_request({1: producer.batch(b"x")}, name), 12)
        assert produce_code(response) == ErrorCode.INVALID_PRODUCER_ID_MAPPING

    tell(story)


def test_batch_that_waits_longer_than_there_is_room_is_told_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        batch = producer.batch(b"x")
        limit = "penstock.broker.transactional_appends.TRANSACTIONAL_BYTES_WAITING_MAX"
        with monkeypatch.context() as patched:
            patched.setattr(limit, len(batch) - 1)
            producer.send(batch)
            assert produce_code(await client.receive()) == ErrorCode.NOT_ENOUGH_REPLICAS
        producer.send(batch)
        assert produce_code(await client.receive()) == ErrorCode.NONE

    tell(story)


@pytest.mark.parametrize("topic", ["__transaction_state", "__consumer_offsets"])
def test_clients_may_not_write_to_internal_topics(topic: str) -> None:
    async def story(broker: Broker, client: Client) -> None:
        await begun(client)
        await broker.groups.ensure_topic()
        response = await client.ask(produce_request({0: build_batch()}, None, topic=topic), 11)
        assert produce_code(response) == ErrorCode.INVALID_TOPIC_EXCEPTION

    tell(story)
