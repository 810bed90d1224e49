"""Keyed batches, transactions and compacted logs for the tests of compaction."""

from collections.abc import Iterable

from tests.storage.log_testing import make_disk, make_log, put, read_all

from penstock.records.batch import BatchHeader, split_batches
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.control import TransactionMarker, build_transaction_marker
from penstock.records.record import NewRecord, Record, decode_records
from penstock.storage.compaction import Compaction
from penstock.storage.log import Log
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem

MAP_BYTES = 1 << 20
HOUR_MS = 3_600_000

Pair = tuple[bytes, bytes | None]


def compacted_config(
    *, segment_bytes: int = 400, is_deleting: bool = False, retention_ms: int = -1, min_lag_ms: int = 0
) -> LogConfig:
    return LogConfig(
        segment_bytes=segment_bytes,
        index_interval_bytes=100,
        retention_ms=retention_ms,
        delete_retention_ms=HOUR_MS,
        min_compaction_lag_ms=min_lag_ms,
        cleanup_policy=frozenset({"compact", "delete"} if is_deleting else {"compact"}),
    )


def keyed_batch(
    *pairs: Pair,
    timestamp: int = 1_000,
    producer: tuple[int, int, int] = (-1, -1, -1),
    transactional: bool = False,
    codec: Codec = Codec.NONE,
) -> bytearray:
    producer_id, producer_epoch, base_sequence = producer
    return build_batch(
        [NewRecord(key=key, value=value, timestamp=timestamp + n) for n, (key, value) in enumerate(pairs)],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        transactional=transactional,
        codec=codec,
    )


def marker(producer_id: int, *, is_commit: bool, epoch: int = 0) -> bytearray:
    return build_transaction_marker(
        TransactionMarker(
            is_commit=is_commit, coordinator_epoch=0, producer_id=producer_id, producer_epoch=epoch
        ),
        timestamp=1_000,
    )


def new_log(config: LogConfig | None = None, *, disk: MemoryFileSystem | None = None) -> Log:
    """A log without tail cache, so that what is read comes from files."""
    return make_log(disk or make_disk(), config or compacted_config(), tail_bytes=0)


def append(log: Log, *batches: bytearray) -> None:
    """Append and flush, as committed."""
    for batch in batches:
        put(log, batch)
        log.flush()
    log.update_high_watermark(log.flushed_offset)


def roll(log: Log) -> None:
    """Put the active segment aside, so that compaction reaches everything."""
    if log.describe_segments()[-1].size_bytes:
        assert log.roll_if_due(2**62)
        log.flush()


def stable_offset(log: Log) -> int:
    unstable = log.first_unstable_offset
    return log.flushed_offset if unstable is None else unstable


def compact(log: Log, *, now: int = 5_000, map_bytes: int = MAP_BYTES) -> Compaction | None:
    """Roll, and one pass over everything."""
    roll(log)
    return log.compact(now=now, stable_offset=stable_offset(log), map_bytes=map_bytes)


def batches_of(log: Log) -> list[tuple[BatchHeader, list[Record]]]:
    content = read_all(log)
    return [(header, decode_records(content, header, at)) for at, header in split_batches(content)]


def records_in(log: Log) -> list[Record]:
    return [record for header, records in batches_of(log) for record in records if not header.is_control]


def offsets_in(log: Log) -> list[int]:
    return [record.offset for record in records_in(log)]


def latest(records: Iterable[Record]) -> dict[bytes | None, bytes | None]:
    """The newest value of each key, deleted ones left out."""
    values = {record.key: record.value for record in records}
    return {key: value for key, value in values.items() if value is not None}
