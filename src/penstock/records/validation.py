"""What a broker asks of a batch that a client sends (and not of one that another broker replicates).

In the normal case only the header and the checksum are looked at: the bytes are stored and served as they
came, so what records say inside is between producer and consumer. Two kinds of topics need more: a compacted
one cannot keep a record without a key, and one with its own ``compression.type`` has its batches rewritten.

The happy path of ``validate_produced`` is one chain of integer comparisons; which rule was broken, and in
what words, is worked out only after one of them failed.
"""

from dataclasses import dataclass
from itertools import islice

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import DECOMPRESSED_BYTES_MAX, DECOMPRESSION_RATIO_MAX, RECORD_ERRORS_MAX
from penstock.records.batch import (
    CODEC_MASK,
    CONTROL_BIT,
    CRC_START,
    DELETE_HORIZON_BIT,
    HEADER_BYTES,
    LOG_APPEND_TIME_BIT,
    LOG_OVERHEAD,
    MAGIC,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Buffer,
    read_header,
)
from penstock.records.builder import build_batch
from penstock.records.checksum import crc32c
from penstock.records.compression import Codec
from penstock.records.errors import CorruptBatchError, RecordError
from penstock.records.keyless import keyless_records
from penstock.records.mistimed import mistimed_records
from penstock.records.record import NO_TIMESTAMP, RECORD_BYTES_MIN, Record, decode_records

TIMESTAMP_UNLIMITED_MS = 2**63 - 1
_MAGIC_AT = 16
_BROKER_ONLY_BITS = LOG_APPEND_TIME_BIT | CONTROL_BIT | DELETE_HORIZON_BIT
_RECORDS_MAX = DECOMPRESSED_BYTES_MAX // RECORD_BYTES_MIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ProduceRules:
    """What one topic allows."""

    max_message_bytes: int = 1024 * 1024 + LOG_OVERHEAD
    segment_bytes: int = 1024 * 1024 * 1024
    timestamp_before_max_ms: int = TIMESTAMP_UNLIMITED_MS
    timestamp_after_max_ms: int = 60 * 60 * 1000
    is_compacted: bool = False
    log_append_time: bool = False
    target_codec: Codec | None = None
    """What batches are stored with; None keeps the producer's choice."""

    @property
    def decompressed_bytes_max(self) -> int:
        """How much a batch may become when it has to be looked into."""
        return min(self.max_message_bytes * DECOMPRESSION_RATIO_MAX, DECOMPRESSED_BYTES_MAX)


def validate_produced(buffer: Buffer, rules: ProduceRules, now: int) -> BatchHeader:
    """The header of the one good batch in ``buffer``.

    Raises CorruptBatchError for broken bytes and RecordError for a batch that ``rules`` refuse.
    """
    size = len(buffer)
    if size <= HEADER_BYTES or buffer[_MAGIC_AT] != MAGIC:
        raise _unreadable(buffer)
    header = read_header(buffer)
    if LOG_OVERHEAD + header[1] != size:
        raise _wrong_length(header, size)
    if size > rules.max_message_bytes or size > rules.segment_bytes:
        raise _too_large(size, rules)
    if crc32c(memoryview(buffer)[CRC_START:]) != header[4]:
        raise CorruptBatchError("Record batch fails its checksum.")
    _check_fields(header, size, rules)
    if not rules.log_append_time:
        _check_timestamps(buffer, header, rules, now)
    if rules.is_compacted:
        _check_keys(buffer, header, rules)
    return header


def needs_rewrite(header: BatchHeader, rules: ProduceRules) -> bool:
    """Whether the topic stores batches with another codec than this one's."""
    return rules.target_codec is not None and rules.target_codec != header.codec


def rewrite_batch(buffer: Buffer, header: BatchHeader, rules: ProduceRules, now: int) -> bytearray:
    """The same records with the topic's codec; the producer's id, sequence and times are kept."""
    records = _decode_produced(buffer, header, rules)
    codec = rules.target_codec if rules.target_codec is not None else Codec(header.codec)
    if rules.log_append_time:
        records = [_at(record, now) for record in records]
    batch = build_batch(
        records,
        codec=codec,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        transactional=header.is_transactional,
        log_append_time=rules.log_append_time,
    )
    if len(batch) > rules.max_message_bytes or len(batch) > rules.segment_bytes:
        raise _too_large(len(batch), rules)
    return batch


def _check_fields(header: BatchHeader, size: int, rules: ProduceRules) -> None:
    """Everything in the header that does not depend on the time; one pass over a plain tuple."""
    base_offset, _, _, _, _, attributes, last_delta, _, _, producer_id, epoch, sequence, count = header
    codec = attributes & CODEC_MASK
    if base_offset != 0:
        raise _invalid(f"The base offset of a produced batch must be 0, it is {base_offset}.")
    if attributes & _BROKER_ONLY_BITS:
        raise _broker_only(attributes)
    if count <= 0 or last_delta != count - 1:
        raise _invalid(f"Batch claims {count} records and a last offset delta of {last_delta}.")
    if codec:
        _check_codec(codec, count, rules)
    elif count * RECORD_BYTES_MIN > size - HEADER_BYTES:
        raise _invalid(f"Batch claims {count} records in {size - HEADER_BYTES} bytes.")
    if producer_id != -1 or attributes & TRANSACTIONAL_BIT:
        _check_producer(producer_id, epoch, sequence)


def _check_codec(codec: int, count: int, rules: ProduceRules) -> None:
    if codec > Codec.ZSTD:
        raise RecordError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"Compression codec {codec} does not exist."
        )
    if count > _RECORDS_MAX:
        raise _invalid(f"Batch claims {count} records, no batch holds more than {_RECORDS_MAX}.")


def _check_producer(producer_id: int, epoch: int, sequence: int) -> None:
    """Idempotent or transactional: then id, epoch and sequence must all be there."""
    if producer_id < 0 or epoch < 0 or sequence < 0:
        raise _invalid(
            f"Producer id {producer_id}, epoch {epoch} and sequence {sequence} must all be at least 0."
        )


def _check_timestamps(buffer: Buffer, header: BatchHeader, rules: ProduceRules, now: int) -> None:
    """The batch's first and largest timestamp; single records in between are not looked at."""
    earliest = now - rules.timestamp_before_max_ms
    latest = now + rules.timestamp_after_max_ms
    for timestamp in (header[7], header[8]):
        if not earliest <= timestamp <= latest and timestamp != NO_TIMESTAMP:
            raise RecordError(
                ErrorCode.INVALID_TIMESTAMP,
                f"Timestamp {timestamp} is out of range: it should be within [{earliest}, {latest}].",
                _mistimed(buffer, header, rules, range(earliest, latest + 1)),
            )


def _mistimed(
    buffer: Buffer, header: BatchHeader, rules: ProduceRules, allowed: range
) -> tuple[tuple[int, str], ...]:
    """The first of them: their number is nobody's need."""
    found = mistimed_records(buffer, header, allowed, decompressed_bytes_max=rules.decompressed_bytes_max)
    first = islice(found, RECORD_ERRORS_MAX)
    return tuple((index, f"Timestamp {timestamp} is out of range.") for index, timestamp in first)


def _check_keys(buffer: Buffer, header: BatchHeader, rules: ProduceRules) -> None:
    count, errors = 0, []
    for index in keyless_records(buffer, header, decompressed_bytes_max=rules.decompressed_bytes_max):
        count += 1
        if count <= RECORD_ERRORS_MAX:
            errors.append((index, "Compacted topic cannot accept a record without a key."))
    if errors:
        raise RecordError(
            ErrorCode.INVALID_RECORD, f"{count} records have no key on a compacted topic.", tuple(errors)
        )


def _decode_produced(buffer: Buffer, header: BatchHeader, rules: ProduceRules) -> list[Record]:
    """The records; their offset deltas are 0 to n-1 because they ascend and end there."""
    return decode_records(buffer, header, decompressed_bytes_max=rules.decompressed_bytes_max)


def _at(record: Record, timestamp: int) -> Record:
    return Record(
        offset=record.offset, timestamp=timestamp, key=record.key, value=record.value, headers=record.headers
    )


def _unreadable(buffer: Buffer) -> ApiError:
    if len(buffer) == 0:
        return _invalid("A produce request must have a record batch for each partition.")
    if len(buffer) > _MAGIC_AT and buffer[_MAGIC_AT] > MAGIC:
        return CorruptBatchError(f"There is no magic {buffer[_MAGIC_AT]}.")
    if len(buffer) > _MAGIC_AT and buffer[_MAGIC_AT] < MAGIC:
        return _invalid(f"Batch has magic {buffer[_MAGIC_AT]}, only {MAGIC} can be produced.")
    return CorruptBatchError(f"{len(buffer)} bytes are too few for a record batch.")


def _wrong_length(header: BatchHeader, size: int) -> ApiError:
    if header.size_bytes < size:
        return _invalid(
            f"A produce request must have exactly one batch for each partition; "
            f"{size - header.size_bytes} bytes stand behind the first."
        )
    return CorruptBatchError(f"Batch claims {header.size_bytes} bytes, {size} have come.")


def _too_large(size: int, rules: ProduceRules) -> RecordError:
    if size > rules.max_message_bytes:
        return RecordError(
            ErrorCode.MESSAGE_TOO_LARGE, f"Batch of {size} bytes, the topic takes {rules.max_message_bytes}."
        )
    return RecordError(
        ErrorCode.RECORD_LIST_TOO_LARGE, f"Batch of {size} bytes, a segment holds {rules.segment_bytes}."
    )


def _broker_only(attributes: int) -> RecordError:
    if attributes & CONTROL_BIT:
        return _invalid("Clients are not allowed to write control records.")
    if attributes & LOG_APPEND_TIME_BIT:
        return _invalid("Clients must send the timestamp type CreateTime.")
    return _invalid("Clients are not allowed to set a delete horizon.")


def _invalid(message: str) -> RecordError:
    return RecordError(ErrorCode.INVALID_RECORD, message)
