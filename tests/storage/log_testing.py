"""Batches, disks and logs for the tests of the log and its parts."""

from random import Random

from penstock.model.ids import TopicPartition
from penstock.records.batch import read_header, split_batches
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.record import NewRecord, Record, decode_records
from penstock.storage.filesystem import FileSystem
from penstock.storage.log import AppendResult, Log, RecoveryHints
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.tail_cache import TailCache

DIRECTORY = "/data/orders-0"
PARTITION = TopicPartition("orders", 0)


def make_disk(seed: int = 1, capacity_bytes: int = 1 << 30) -> MemoryFileSystem:
    disk = MemoryFileSystem(Random(seed), capacity_bytes=capacity_bytes)
    disk.make_directory("/data")
    disk.sync_directory("/")
    return disk


def make_batch(
    *values: bytes,
    timestamp: int = 1_000,
    producer: tuple[int, int, int] = (-1, -1, -1),
    transactional: bool = False,
    codec: Codec = Codec.NONE,
) -> bytearray:
    """A batch as a client sends it; ``producer`` is producer id, epoch and base sequence."""
    records = [NewRecord(value=value, timestamp=timestamp + n) for n, value in enumerate(values or (b"v",))]
    producer_id, producer_epoch, base_sequence = producer
    return build_batch(
        records,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        transactional=transactional,
        codec=codec,
    )


def make_log(disk: FileSystem, config: LogConfig | None = None, *, tail_bytes: int = 1 << 20) -> Log:
    return Log.create(disk, DIRECTORY, PARTITION, config or LogConfig(), tail_cache=TailCache(tail_bytes))


def open_log(
    disk: FileSystem,
    config: LogConfig | None = None,
    *,
    recovery_point: int = 0,
    clean: bool = False,
    sealed_offset: int | None = None,
    log_start_offset: int = 0,
    tail_bytes: int = 1 << 20,
) -> Log:
    hints = RecoveryHints(
        recovery_point=recovery_point,
        clean=clean,
        sealed_offset=sealed_offset,
        log_start_offset=log_start_offset,
    )
    return Log.open(
        disk, DIRECTORY, PARTITION, config or LogConfig(), tail_cache=TailCache(tail_bytes), recovery=hints
    )


def reopen_clean(disk: FileSystem, log: Log, config: LogConfig | None = None, *, tail_bytes: int = 0) -> Log:
    """Close in order and open again, with an empty tail cache so that reads come from files."""
    log.close()
    return open_log(
        disk,
        config or log.config,
        recovery_point=log.recovery_point,
        clean=True,
        sealed_offset=log.recovery_point,
        log_start_offset=log.log_start_offset,
        tail_bytes=tail_bytes,
    )


def put(
    log: Log, batch: bytearray, *, leader_epoch: int = 0, now: int = 1, is_client: bool = True
) -> AppendResult:
    return log.append(batch, read_header(batch), leader_epoch=leader_epoch, now=now, is_client=is_client)


def fill(log: Log, count: int, *, size: int = 100, first_timestamp: int = 1_000) -> list[bytes]:
    """Append ``count`` batches of one record and flush each; answers their stamped bytes."""
    batches = []
    for number in range(count):
        batch = make_batch(bytes([number % 251]) * size, timestamp=first_timestamp + number)
        put(log, batch)
        log.flush()
        batches.append(bytes(batch))
    return batches


def read_all(log: Log, *, max_bytes: int = 1_000_000) -> bytes:
    """Everything that may be read, fetched as a consumer does."""
    content = bytearray()
    offset = log.log_start_offset
    while offset < log.flushed_offset:
        found = log.read(offset, max_bytes=max_bytes, end_offset=log.flushed_offset)
        if log.needs_verification(found):
            log.verify(found)
        for position, header in split_batches(data := found.read_bytes()):
            if header.last_offset >= offset:
                content += data[position : position + header.size_bytes]
                offset = header.next_offset
    return bytes(content)


def records_of(content: bytes) -> list[Record]:
    return [
        record
        for position, header in split_batches(content)
        for record in decode_records(content, header, position)
    ]
