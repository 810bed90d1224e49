"""A producer and a reader that speak to a living broker through its socket, in either protocol."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from tests.broker.coordination.living_broker import KEYS
from tests.raw_kafka import BatchFields, Record, StoredBatch, build_batch, stored_batches

from penstock.broker.broker import Broker
from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import APIS
from penstock.wire.framing import decode_response, encode_request
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from penstock.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.wire.messages.find_coordinator import TRANSACTION, FindCoordinatorRequest
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from penstock.wire.schema import Struct

TRANSACTIONAL_BIT = 16
CONTROL_BIT = 32
SECONDS_MAX = 10.0


class Client:
    """A connection; requests may be sent ahead of answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)
        self._sent: list[tuple[int, int, int]] = []

    def send(self, request: Struct, version: int | None = None) -> None:
        spec = APIS[KEYS[type(request)]]
        version = spec.max_version if version is None else version
        number = next(self._numbers)
        self._writer.write(encode_request(spec.key, version, number, request, client_id="test"))
        self._sent.append((spec.key, version, number))

    async def receive(self) -> Any:
        """The answer to the oldest request that has none."""
        key, version, number = self._sent.pop(0)
        async with asyncio.timeout(SECONDS_MAX):
            size = int.from_bytes(await self._reader.readexactly(4), "big")
            frame = await self._reader.readexactly(size)
        answered, response = decode_response(key, version, frame)
        assert answered == number
        return response

    async def ask(self, request: Struct, version: int | None = None) -> Any:
        self.send(request, version)
        return await self.receive()

    def expect_nothing(self) -> None:
        """The newest request gets no answer."""
        self._sent.pop()

    async def is_closed_by_broker(self) -> bool:
        async with asyncio.timeout(SECONDS_MAX):
            return await self._reader.read(1) == b""

    def close(self) -> None:
        self._writer.close()


@asynccontextmanager
async def connected(broker: Broker | str) -> AsyncIterator[Client]:
    """To a living broker, or to one of which only the address is known."""
    address = broker if isinstance(broker, str) else broker.address
    host, _, port = address.rpartition(":")
    client = Client(*await asyncio.open_connection(host, int(port)))
    try:
        yield client
    finally:
        client.close()


class Producer:
    """A transactional producer; ``is_second`` says by which protocol it works."""

    def __init__(self, client: Client, transactional_id: str = "t", *, is_second: bool = False) -> None:
        self.client = client
        self.transactional_id = transactional_id
        self.is_second = is_second
        self.producer_id = -1
        self.epoch = -1
        self.sequences: dict[tuple[str, int], int] = {}

    async def init(self, *, timeout_ms: int = 60_000, keeps_identity: bool = False) -> int:
        """Ask until the last transaction is out of the way; the error code."""
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=timeout_ms,
            producer_id=self.producer_id if keeps_identity else -1,
            producer_epoch=self.epoch if keeps_identity else -1,
        )
        await self.client.ask(
            FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=(self.transactional_id,))
        )
        response = await self._until_settled(request, 4)
        if response.error_code == ErrorCode.NONE:
            self.producer_id, self.epoch = response.producer_id, response.producer_epoch
            self.sequences.clear()
        return int(response.error_code)

    async def add(self, topic: str = "orders", *partitions: int) -> int:
        """By the first protocol: name partitions; the error code of the first."""
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=(AddPartitionsToTxnTopic(name=topic, partitions=partitions or (0,)),),
        )
        while True:
            response = await self.client.ask(request, 3)
            results = response.results_by_topic_v3_and_below[0].results_by_partition
            if results[0].partition_error_code != ErrorCode.CONCURRENT_TRANSACTIONS:
                return int(results[0].partition_error_code)
            await asyncio.sleep(0.005)

    def batch(
        self, *values: bytes, topic: str = "orders", partition: int = 0, sequence: int | None = None
    ) -> bytes:
        """The next batch for a partition."""
        place = (topic, partition)
        if sequence is None:
            sequence = self.sequences.get(place, 0)
            self.sequences[place] = sequence + len(values)
        fields = BatchFields(
            attributes=TRANSACTIONAL_BIT,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
        )
        return build_batch([Record(key=b"k", value=value) for value in values], fields)

    def send(
        self,
        batch: bytes,
        *,
        topic: str = "orders",
        partition: int = 0,
        version: int | None = None,
        acks: int = -1,
    ) -> None:
        """Send a batch without waiting; ``version`` is 12 or 11 if it is not said."""
        self.client.send(
            produce_request({partition: batch}, self.transactional_id, topic=topic, acks=acks),
            (12 if self.is_second else 11) if version is None else version,
        )

    async def produce(self, *values: bytes, topic: str = "orders", partition: int = 0, **choices: int) -> int:
        """The error code."""
        self.send(
            self.batch(*values, topic=topic, partition=partition), topic=topic, partition=partition, **choices
        )
        return produce_code(await self.client.receive())

    async def end(self, *, is_commit: bool = True, version: int | None = None) -> int:
        """The error code; by the second protocol the producer goes on with what it is told."""
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=is_commit,
        )
        version = (5 if self.is_second else 3) if version is None else version
        response: EndTxnResponse = await self.client.ask(request, version)
        if response.error_code == ErrorCode.NONE and self.is_second:
            self.producer_id, self.epoch = response.producer_id, response.producer_epoch
            self.sequences.clear()
        return response.error_code

    async def add_offsets(self, group: str) -> int:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            group_id=group,
        )
        response = await self._until_settled(request, 3)
        return int(response.error_code)

    async def commit_offset(self, group: str, offset: int, *, version: int | None = None) -> int:
        """The group's offset in partition 0 of the topic, as part of the transaction."""
        partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        request = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=group,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            topics=(TxnOffsetCommitRequestTopic(name="orders", partitions=(partition,)),),
        )
        response = await self.client.ask(
            request, (5 if self.is_second else 3) if version is None else version
        )
        return int(response.topics[0].partitions[0].error_code)

    async def _until_settled(self, request: Struct, version: int) -> Any:
        async with asyncio.timeout(SECONDS_MAX):
            while True:
                response = await self.client.ask(request, version)
                if response.error_code != ErrorCode.CONCURRENT_TRANSACTIONS:
                    return response
                await asyncio.sleep(0.005)


def produce_request(
    batches: dict[int, bytes], transactional_id: str | None, *, topic: str = "orders", acks: int = -1
) -> ProduceRequest:
    data = tuple(
        PartitionProduceData(index=index, records=memoryview(batch)) for index, batch in batches.items()
    )
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=10_000,
        topic_data=(TopicProduceData(name=topic, partition_data=data),),
    )


def produce_code(response: Any) -> int:
    return int(response.responses[0].partition_responses[0].error_code)


class Read(NamedTuple):
    """What a reader of one partition got."""

    values: list[bytes | None]
    """Without control records, and without aborted ones for a reader of committed records."""

    markers: list[int]
    """Offsets of control records."""

    aborted: list[tuple[int, int]]
    high_watermark: int
    last_stable_offset: int
    next_offset: int
    """Where to read on."""


def fetch_request(
    topic: str = "orders",
    partition: int = 0,
    *,
    offset: int = 0,
    committed: bool = True,
    wait_ms: int = 0,
    max_bytes: int = 1 << 20,
) -> FetchRequest:
    wanted = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes)
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=1 << 20,
        isolation_level=1 if committed else 0,
        topics=(FetchTopic(topic=topic, partitions=(wanted,)),),
    )


def understand(response: Any, offset: int = 0) -> Read:
    """As a consumer does: drop control records, and what the aborted transactions wrote."""
    (found,) = response.responses[0].partitions
    assert found.error_code == ErrorCode.NONE, found.error_code
    aborted = [(one.producer_id, one.first_offset) for one in found.aborted_transactions or ()]
    batches = list(stored_batches(bytes(found.records or b"")))
    values, markers = _visible(batches, aborted, offset)
    end = batches[-1].base_offset + batches[-1].record_count if batches else offset
    return Read(values, markers, aborted, found.high_watermark, found.last_stable_offset, end)


async def read(client: Client, topic: str = "orders", partition: int = 0, *, committed: bool = True) -> Read:
    return understand(await client.ask(fetch_request(topic, partition, committed=committed), 11))


async def read_through(
    client: Client, *, max_bytes: int, partition: int = 0
) -> tuple[list[bytes | None], int]:
    """All that is committed in a partition, in bites; also the longest list of aborted transactions."""
    values: list[bytes | None] = []
    offset = longest = 0
    while True:
        request = fetch_request(partition=partition, offset=offset, max_bytes=max_bytes)
        found = understand(await client.ask(request, 11), offset)
        if offset >= found.last_stable_offset:
            return values, longest
        values += found.values
        longest = max(longest, len(found.aborted))
        offset = found.next_offset


def _visible(
    batches: Sequence[StoredBatch], aborted: Sequence[tuple[int, int]], offset: int
) -> tuple[list[bytes | None], list[int]]:
    waiting = sorted(aborted, key=lambda one: one[1])
    dropped: set[int] = set()
    values: list[bytes | None] = []
    markers: list[int] = []
    for batch in batches:
        while waiting and waiting[0][1] <= batch.base_offset:
            dropped.add(waiting.pop(0)[0])
        if batch.attributes & CONTROL_BIT:
            markers.append(batch.base_offset)
            dropped.discard(batch.producer_id)
        elif not (batch.attributes & TRANSACTIONAL_BIT and batch.producer_id in dropped):
            values.extend(value for place, value in batch.values() if place >= offset)
    return values, markers
