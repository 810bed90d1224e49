"""A producer of the second version of transactions (KIP-890), which no Python client speaks yet, by hand.

It never announces partitions or groups: the broker adds them by itself. Every end of a transaction brings a
new epoch, with which sequences begin again.
"""

import time
from collections.abc import Callable
from typing import Any

from tests.interop.transactional import SECONDS, TransactionFailedError
from tests.raw_kafka import BatchFields, Record, build_batch

from penstock.bench.connection import Address, Connection, parse_address
from penstock.bench.errors import BenchError
from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.end_txn import EndTxnRequest
from penstock.wire.messages.find_coordinator import GROUP, TRANSACTION, FindCoordinatorRequest
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

RETRIED = {
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
}
LAST_VERSION_WITH_NAMES = 12
"""Of Produce; the first that means the second version of transactions, too."""
TRANSACTIONAL_BIT = 16


class SecondVersionTransactional:
    """One producer; as ``Transactional`` asks."""

    def __init__(self, bootstrap: str, transactional_id: str, *, timeout_ms: int = 30_000) -> None:
        self._bootstrap = [parse_address(one) for one in bootstrap.split(",")]
        self._connections: dict[Address, Connection] = {}
        self._transactional_id = transactional_id
        self._sequences: dict[str, int] = {}
        init = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms)
        answer = self._call_coordinator(ApiKey.INIT_PRODUCER_ID, init)
        self._producer_id, self._epoch = answer.producer_id, answer.producer_epoch

    def begin(self) -> None:
        """Nothing is said until there is something to say."""

    def send(self, topic: str, value: str) -> None:
        sequence = self._sequences.get(topic, 0)
        fields = BatchFields(
            attributes=TRANSACTIONAL_BIT,
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            base_sequence=sequence,
        )
        batch = build_batch([Record(value=value.encode())], fields)

        def request() -> ProduceRequest:
            partition = PartitionProduceData(index=0, records=bytearray(batch))
            data = TopicProduceData(name=topic, partition_data=(partition,))
            return ProduceRequest(
                transactional_id=self._transactional_id, acks=-1, timeout_ms=10_000, topic_data=(data,)
            )

        self._call(
            ApiKey.PRODUCE,
            request,
            lambda answer: answer.responses[0].partition_responses[0].error_code,
            where=lambda: self._leader(topic),
        )
        self._sequences[topic] = sequence + 1

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        request = TxnOffsetCommitRequest(
            transactional_id=self._transactional_id,
            group_id=group,
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            topics=(TxnOffsetCommitRequestTopic(name=topic, partitions=(partition,)),),
        )
        self._call(
            ApiKey.TXN_OFFSET_COMMIT,
            lambda: request,
            lambda answer: answer.topics[0].partitions[0].error_code,
            where=lambda: self._coordinator(GROUP, group),
        )

    def commit(self) -> None:
        self._end(is_commit=True)

    def abort(self) -> None:
        self._end(is_commit=False)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    def _end(self, *, is_commit: bool) -> None:
        request = EndTxnRequest(
            transactional_id=self._transactional_id,
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            committed=is_commit,
        )
        answer = self._call_coordinator(ApiKey.END_TXN, request)
        assert (answer.producer_id, answer.producer_epoch) != (self._producer_id, self._epoch)
        self._producer_id, self._epoch = answer.producer_id, answer.producer_epoch
        self._sequences.clear()

    # Finding out whom to ask.

    def _coordinator(self, key_type: int, key: str) -> Address:
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=(key,))
        (found,) = self._ask_anybody(ApiKey.FIND_COORDINATOR, request).coordinators
        if found.error_code:
            raise BenchError(ErrorCode(found.error_code).name)
        return Address(found.host, found.port)

    def _leader(self, topic: str) -> Address:
        wanted = (MetadataRequestTopic(name=topic),)
        answer = self._ask_anybody(ApiKey.METADATA, MetadataRequest(topics=wanted))
        addresses = {broker.node_id: Address(broker.host, broker.port) for broker in answer.brokers}
        ((leader, *_),) = [[each.leader_id for each in shown.partitions] or [-1] for shown in answer.topics]
        if leader not in addresses:
            raise BenchError(f"nobody leads {topic}")
        return addresses[leader]

    def _ask_anybody(self, api: ApiKey, request: Any) -> Any:
        for address in self._bootstrap[:-1]:
            try:
                return self._connection(address).call(api, request)
            except (OSError, BenchError):
                self._hang_up(address)
        return self._connection(self._bootstrap[-1]).call(api, request)

    # Asking.

    def _call_coordinator(self, api: ApiKey, request: Any) -> Any:
        return self._call(
            api,
            lambda: request,
            lambda answer: answer.error_code,
            where=lambda: self._coordinator(TRANSACTION, self._transactional_id),
        )

    def _call(
        self,
        api: ApiKey,
        request: Callable[[], Any],
        error_of: Callable[[Any], int],
        *,
        where: Callable[[], Address],
    ) -> Any:
        """Again and again while the broker asks for it, or is not there."""
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                address = where()
                answer = self._connection(address).call(api, request())
            except (OSError, BenchError) as error:
                if time.monotonic() > deadline:
                    raise TransactionFailedError from error
                self._hang_up(*self._connections)
                time.sleep(0.05)
                continue
            code = ErrorCode(error_of(answer))
            if code is ErrorCode.NONE:
                return answer
            if code not in RETRIED or time.monotonic() > deadline:
                raise TransactionFailedError(code.name)
            time.sleep(0.02)

    def _connection(self, address: Address) -> Connection:
        if address not in self._connections:
            connection = Connection(address)
            connection.versions = {**connection.versions, ApiKey.PRODUCE: LAST_VERSION_WITH_NAMES}
            self._connections[address] = connection
        return self._connections[address]

    def _hang_up(self, *addresses: Address) -> None:
        for address in addresses:
            if address in self._connections:
                self._connections.pop(address).close()
