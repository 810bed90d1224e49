"""Fetch requests, and reading what comes back as consumers do, aborted transactions left out."""

from dataclasses import dataclass
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.records.batch import BatchHeader, split_batches
from penstock.records.control import decode_transaction_marker
from penstock.records.record import decode_records
from penstock.sim.workloads.client import Client
from penstock.sim.workloads.history import COMMITTED
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic

FETCH_VERSION = 12
FETCH_WAIT_MS = 100
PARTITION_BYTES_MAX = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What one fetch of one partition brought."""

    error_code: int
    #: Pairs of offset and value that the application gets.
    records: tuple[tuple[int, str], ...]
    next_offset: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    headers: tuple[BatchHeader, ...]


async def fetch(
    client: Client, topic: str, partition: int, offset: int, isolation: str, *, asks_anybody: bool = False
) -> Fetched:
    """Fetch from an offset on, from the leader or from anybody who holds the partition (KIP-392)."""
    wanted = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=PARTITION_BYTES_MAX)
    request = FetchRequest(
        max_wait_ms=FETCH_WAIT_MS,
        min_bytes=1,
        isolation_level=int(isolation == COMMITTED),
        topics=(FetchTopic(topic=topic, partitions=(wanted,)),),
    )
    ask = client.ask_replica if asks_anybody else client.ask_leader
    response = await ask(topic, partition, request, FETCH_VERSION)
    if response.error_code:
        return _nothing(response.error_code, offset)
    answer = response.responses[0].partitions[0]
    if answer.error_code:
        client.forget_leader(topic, partition)
        return _nothing(answer.error_code, offset)
    return _read(answer, offset, isolation)


def _nothing(code: int, offset: int) -> Fetched:
    return Fetched(
        error_code=code,
        records=(),
        next_offset=offset,
        high_watermark=-1,
        last_stable_offset=-1,
        log_start_offset=-1,
        headers=(),
    )


def _read(answer: Any, offset: int, isolation: str) -> Fetched:
    data = b"" if answer.records is None else bytes(answer.records)
    aborted = _Aborted(answer.aborted_transactions if isolation == COMMITTED else None)
    records: list[tuple[int, str]] = []
    headers: list[BatchHeader] = []
    next_offset = offset
    for position, header in split_batches(data):
        headers.append(header)
        next_offset = header.next_offset
        aborted.reach(header.last_offset)
        if header.is_control:
            aborted.end(data, position)
        elif not aborted.covers(header):
            records += [
                (record.offset, (record.value or b"").decode())
                for record in decode_records(data, header, position)
                if record.offset >= offset
            ]
    return Fetched(
        error_code=ErrorCode.NONE,
        records=tuple(records),
        next_offset=next_offset,
        high_watermark=answer.high_watermark,
        last_stable_offset=answer.last_stable_offset,
        log_start_offset=answer.log_start_offset,
        headers=tuple(headers),
    )


class _Aborted:
    """Which producers' transactional batches to leave out, as the broker's list says."""

    def __init__(self, listed: Any) -> None:
        self._coming = sorted(
            ((each.first_offset, each.producer_id) for each in listed or ()), key=lambda each: each[0]
        )
        self._open: dict[int, None] = {}

    def reach(self, offset: int) -> None:
        """Everything up to this offset comes now."""
        while self._coming and self._coming[0][0] <= offset:
            self._open[self._coming.pop(0)[1]] = None

    def covers(self, header: BatchHeader) -> bool:
        """Whether a batch belongs to an aborted transaction."""
        return header.is_transactional and header.producer_id in self._open

    def end(self, data: bytes, position: int) -> None:
        """A marker: the producer's next transaction is another one."""
        marker = decode_transaction_marker(data, position)
        if marker is not None and not marker.is_commit:
            self._open.pop(marker.producer_id, None)
