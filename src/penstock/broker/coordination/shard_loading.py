"""Reading a partition of an internal topic into a shard.

Finding the next piece of the log happens on the loop, which owns the log; reading, checking and decoding it
on a worker thread. Nobody else knows the shard yet, so a thread may change it.
"""

import asyncio

from penstock.broker.coordination.shard_kind import Shard
from penstock.broker.partition import Partition
from penstock.broker.workers import BlockingWorkers
from penstock.coordinator.outcome import CoordinatorRecord
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import NO_PRODUCER_ID
from penstock.records.batch import BatchHeader, split_batches
from penstock.records.control import decode_transaction_marker
from penstock.records.record import decode_records
from penstock.storage.log import Log, LogSlice

READ_BYTES = 1024 * 1024


async def until_settled(partition: Partition) -> None:
    """Return when everything in the log is committed; raises when this broker cannot bring that about.

    A new leader has records of its predecessors of which it does not know yet whether they are. It keeps
    them, so they will be; until then nobody may act on them.
    """
    while partition.high_watermark < partition.log.log_end_offset:
        waiter = _Settled()
        partition.await_commit(partition.log.log_end_offset - 1, waiter)
        await waiter.done


async def load_shard(
    shard: Shard, partition: Partition, workers: BlockingWorkers, *, leader_epoch: int
) -> None:
    """Replay the log, all of which is committed; raises when this leader epoch is over."""
    log = partition.log
    _check_leads(partition, leader_epoch)
    offset, end_offset = log.log_start_offset, partition.high_watermark
    if end_offset < log.log_end_offset:
        raise InvariantError(f"{partition} is read while it is committed up to {end_offset} only")
    while offset < end_offset:
        found = log.read(offset, max_bytes=READ_BYTES, end_offset=end_offset)
        if not found.size:
            return  # what is left was compacted away
        offset = await workers.call(_replay_slice, shard, log, found)
        _check_leads(partition, leader_epoch)


def _check_leads(partition: Partition, leader_epoch: int) -> None:
    """After anything that was waited for: others may have written to the log meanwhile."""
    if partition.leader.leader_epoch != leader_epoch:
        raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)


class _Settled:
    """Waits for an offset to be committed."""

    def __init__(self) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def settle(self, code: ErrorCode) -> None:
        """It is, or cannot be."""
        if self.done.done():
            return
        if code is ErrorCode.NONE:
            self.done.set_result(None)
        else:
            self.done.set_exception(ApiError(code))


def _replay_slice(shard: Shard, log: Log, found: LogSlice) -> int:
    """Replay whole batches; returns where to go on."""
    log.verify(found)
    data = found.read_bytes()
    next_offset = -1
    for position, header in split_batches(data):
        if header.is_control:
            _replay_marker(shard, data, position)
        else:
            _replay_batch(shard, data, position, header)
        next_offset = header.next_offset
    if next_offset < 0:
        raise InvariantError(f"{log} was read and no batch was found")
    return next_offset


def _replay_batch(shard: Shard, data: bytes, position: int, header: BatchHeader) -> None:
    is_open = header.is_transactional
    producer_id = header.producer_id if is_open else NO_PRODUCER_ID
    epoch = header.producer_epoch if is_open else -1
    for record in decode_records(data, header, position):
        if record.key is None:
            raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"the record at offset {record.offset} has no key")
        shard.replay(
            CoordinatorRecord(key=record.key, value=record.value),
            offset=record.offset,
            producer_id=producer_id,
            producer_epoch=epoch,
        )


def _replay_marker(shard: Shard, data: bytes, position: int) -> None:
    marker = decode_transaction_marker(data, position)
    if marker is not None:
        shard.complete_transaction(marker.producer_id, marker.producer_epoch, is_commit=marker.is_commit)
