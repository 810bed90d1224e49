"""What a broker takes from clients, one rule at a time."""

import tracemalloc
from typing import Any

import pytest

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import RECORD_ERRORS_MAX
from penstock.records.batch import HEADER_BYTES, crc_matches, pack_header, read_header, write_crc
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.errors import CorruptBatchError, RecordError
from penstock.records.record import NewRecord, decode_records
from penstock.records.validation import ProduceRules, needs_rewrite, rewrite_batch, validate_produced

NOW = 1_700_000_000_000
HOUR_MS = 60 * 60 * 1000
RULES = ProduceRules()
RECORDS = [NewRecord(key=b"k", value=b"value", timestamp=NOW - index) for index in range(3)]


def batch_with(**fields: int) -> bytearray:
    """A good batch but for ``fields``, with a checksum that is right."""
    batch = build_batch(RECORDS)
    pack_header(batch, read_header(batch)._replace(**fields))
    write_crc(batch, len(batch))
    return batch


def refusal(buffer: Any, rules: ProduceRules = RULES, now: int = NOW) -> ApiError:
    with pytest.raises(ApiError) as caught:
        validate_produced(buffer, rules, now)
    return caught.value


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("codec", list(Codec))
def test_good_batch_is_taken_and_its_header_given(kind: type[bytes], codec: Codec) -> None:
    batch = build_batch(RECORDS, codec=codec, producer_id=4, producer_epoch=0, base_sequence=0)
    header = validate_produced(kind(batch), RULES, NOW)
    assert header == read_header(batch)


def test_batch_of_nothing_is_invalid() -> None:
    error = refusal(b"")
    assert isinstance(error, RecordError)
    assert error.code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("length", [1, 16, 17, HEADER_BYTES - 1, HEADER_BYTES])
def test_batch_that_is_too_short_is_corrupt(length: int) -> None:
    assert isinstance(refusal(build_batch(RECORDS)[:length]), CorruptBatchError)


@pytest.mark.parametrize("magic", [0, 1])
def test_batch_of_an_older_magic_is_invalid(magic: int) -> None:
    batch = build_batch(RECORDS)
    batch[16] = magic
    assert refusal(batch).code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("magic", [3, 255])
def test_batch_of_a_magic_that_does_not_exist_is_corrupt(magic: int) -> None:
    batch = build_batch(RECORDS)
    batch[16] = magic
    assert isinstance(refusal(batch), CorruptBatchError)


def test_second_batch_is_invalid() -> None:
    error = refusal(build_batch(RECORDS) * 2)
    assert error.code is ErrorCode.INVALID_RECORD
    assert "exactly one batch" in error.message


def test_batch_longer_than_what_came_is_corrupt() -> None:
    assert refusal(build_batch(RECORDS)[:-1]).code is ErrorCode.CORRUPT_MESSAGE


def test_batch_length_below_the_header_is_corrupt() -> None:
    assert refusal(batch_with(batch_length=10)).code is ErrorCode.CORRUPT_MESSAGE


def test_batch_over_the_topics_limit_is_too_large_even_when_its_crc_is_wrong() -> None:
    batch = build_batch(RECORDS)
    batch[-1] ^= 1
    assert refusal(batch, ProduceRules(max_message_bytes=len(batch) - 1)).code is ErrorCode.MESSAGE_TOO_LARGE


def test_batch_of_exactly_the_limits_is_taken() -> None:
    batch = build_batch(RECORDS)
    rules = ProduceRules(max_message_bytes=len(batch), segment_bytes=len(batch))
    assert validate_produced(batch, rules, NOW).record_count == 3


def test_batch_over_the_segment_size_is_too_large_for_the_log() -> None:
    batch = build_batch(RECORDS)
    assert refusal(batch, ProduceRules(segment_bytes=len(batch) - 1)).code is ErrorCode.RECORD_LIST_TOO_LARGE


@pytest.mark.parametrize("position", [17, 21, 60, -1])
def test_flipped_bit_is_corrupt(position: int) -> None:
    batch = build_batch(RECORDS)
    batch[position] ^= 0x40
    assert refusal(batch).code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"record_count": 0, "last_offset_delta": -1}, id="no records"),
        pytest.param({"record_count": -1, "last_offset_delta": -2}, id="negative count"),
        pytest.param({"record_count": 2}, id="fewer records than offsets"),
        pytest.param({"last_offset_delta": 3}, id="more offsets than records"),
        pytest.param({"record_count": 100, "last_offset_delta": 99}, id="more records than bytes"),
        pytest.param({"base_offset": 1}, id="base offset not zero"),
        pytest.param({"attributes": 0x20}, id="control bit"),
        pytest.param({"attributes": 0x08}, id="log append time bit"),
        pytest.param({"attributes": 0x40}, id="delete horizon bit"),
        pytest.param({"attributes": 0x10}, id="transactional without producer"),
        pytest.param({"producer_id": 1, "producer_epoch": 0}, id="producer without sequence"),
        pytest.param({"producer_id": 1, "base_sequence": 0}, id="producer without epoch"),
        pytest.param({"producer_id": -2}, id="producer id below -1"),
        pytest.param({"attributes": 1, "record_count": 2**31 - 1, "last_offset_delta": 2**31 - 2}, id="bomb"),
    ],
)
def test_header_that_breaks_a_rule_is_an_invalid_record(fields: dict[str, int]) -> None:
    assert refusal(batch_with(**fields)).code is ErrorCode.INVALID_RECORD


def test_producer_fields_without_a_producer_id_are_ignored() -> None:
    batch = batch_with(producer_id=-1, producer_epoch=0, base_sequence=0)
    assert validate_produced(batch, RULES, NOW).producer_epoch == 0


def test_transactional_batch_of_a_producer_is_taken() -> None:
    batch = batch_with(attributes=0x10, producer_id=1, producer_epoch=0, base_sequence=0)
    assert validate_produced(batch, RULES, NOW).is_transactional


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_codec_that_does_not_exist_is_unsupported(codec: int) -> None:
    assert refusal(batch_with(attributes=codec)).code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def at(*timestamps: int) -> bytearray:
    return build_batch([NewRecord(value=b"", timestamp=timestamp) for timestamp in timestamps])


@pytest.mark.parametrize("timestamps", [(NOW + HOUR_MS + 1,), (NOW, NOW + HOUR_MS + 1), (2**62,)])
def test_timestamp_too_far_ahead_is_refused(timestamps: tuple[int, ...]) -> None:
    assert refusal(at(*timestamps)).code is ErrorCode.INVALID_TIMESTAMP


def test_refusal_names_the_records_whose_timestamps_are_out_of_range() -> None:
    error = refusal(at(NOW, 2**62, NOW - 1, NOW + 2 * HOUR_MS))
    assert isinstance(error, RecordError)
    assert [index for index, _ in error.record_errors] == [1, 3]


@pytest.mark.parametrize("codec", list(Codec))
def test_refusal_of_many_records_out_of_time_names_the_first(codec: Codec) -> None:
    records = [NewRecord(value=b"", timestamp=2**62)] * (RECORD_ERRORS_MAX + 5)
    error = refusal(build_batch(records, codec=codec))
    assert isinstance(error, RecordError)
    assert [index for index, _ in error.record_errors] == list(range(RECORD_ERRORS_MAX))


def test_timestamp_too_old_is_refused() -> None:
    rules = ProduceRules(timestamp_before_max_ms=1000)
    assert refusal(at(NOW - 1001), rules).code is ErrorCode.INVALID_TIMESTAMP
    assert validate_produced(at(NOW - 1000), rules, NOW)


@pytest.mark.parametrize("timestamp", [NOW + HOUR_MS, 0, -1])
def test_timestamp_in_range_or_none_is_taken(timestamp: int) -> None:
    assert validate_produced(at(timestamp), RULES, NOW)


def test_timestamp_does_not_matter_where_the_broker_gives_it() -> None:
    assert validate_produced(at(2**62), ProduceRules(log_append_time=True), NOW)


@pytest.mark.parametrize("codec", list(Codec))
def test_record_without_key_on_a_compacted_topic_is_named(codec: Codec) -> None:
    records = [NewRecord(key=key, value=b"", timestamp=NOW) for key in (b"a", None, b"b", None)]
    error = refusal(build_batch(records, codec=codec), ProduceRules(is_compacted=True))
    assert isinstance(error, RecordError)
    assert error.code is ErrorCode.INVALID_RECORD
    assert [index for index, _ in error.record_errors] == [1, 3]


def test_records_with_keys_on_a_compacted_topic_are_taken() -> None:
    assert validate_produced(build_batch(RECORDS), ProduceRules(is_compacted=True), NOW).record_count == 3


def test_refusal_of_many_records_without_key_counts_all_and_names_the_first() -> None:
    records = [NewRecord(value=b"", timestamp=NOW)] * (RECORD_ERRORS_MAX + 5)
    error = refusal(build_batch(records), ProduceRules(is_compacted=True))
    assert isinstance(error, RecordError)
    assert [index for index, _ in error.record_errors] == list(range(RECORD_ERRORS_MAX))
    assert str(RECORD_ERRORS_MAX + 5) in error.message


def test_keys_on_a_compacted_topic_are_checked_without_making_records() -> None:
    batch = build_batch([NewRecord(key=b"", value=None, timestamp=NOW)] * 10_000)
    validate_produced(batch, RULES, NOW)
    tracemalloc.start()
    try:
        assert validate_produced(batch, ProduceRules(is_compacted=True), NOW).record_count == 10_000
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 2 * len(batch)  # As records they would be more than a megabyte.


def test_compressed_lie_on_a_compacted_topic_is_corrupt() -> None:
    batch = build_batch(RECORDS, codec=Codec.GZIP)
    pack_header(batch, read_header(batch)._replace(record_count=2, last_offset_delta=1))
    write_crc(batch, len(batch))
    assert refusal(batch, ProduceRules(is_compacted=True)).code is ErrorCode.CORRUPT_MESSAGE
    assert validate_produced(batch, RULES, NOW).record_count == 2


def test_bomb_on_a_compacted_topic_is_corrupt() -> None:
    batch = build_batch([NewRecord(key=b"k", value=bytes(200_000), timestamp=NOW)], codec=Codec.GZIP)
    rules = ProduceRules(is_compacted=True, max_message_bytes=1000)
    assert refusal(batch, rules).code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("source", list(Codec))
@pytest.mark.parametrize("target", list(Codec))
def test_rewrite_changes_the_codec_and_nothing_else(source: Codec, target: Codec) -> None:
    batch = build_batch(
        RECORDS, codec=source, producer_id=4, producer_epoch=1, base_sequence=9, transactional=True
    )
    rules = ProduceRules(target_codec=target)
    header = validate_produced(batch, rules, NOW)
    assert needs_rewrite(header, rules) is (source is not target)
    rewritten = rewrite_batch(batch, header, rules, NOW)
    after = read_header(rewritten)
    assert crc_matches(rewritten, after)
    assert after.codec == target
    assert after._replace(batch_length=0, crc=0, attributes=0) == header._replace(
        batch_length=0, crc=0, attributes=0
    )
    assert after.is_transactional
    assert decode_records(rewritten) == decode_records(batch)


def test_rewrite_of_the_producers_choice_is_not_needed() -> None:
    header = read_header(build_batch(RECORDS, codec=Codec.GZIP))
    assert not needs_rewrite(header, ProduceRules())


def test_rewrite_on_a_log_append_time_topic_gives_the_brokers_time() -> None:
    batch = build_batch(RECORDS)
    rules = ProduceRules(target_codec=Codec.ZSTD, log_append_time=True)
    rewritten = rewrite_batch(batch, read_header(batch), rules, NOW + 5)
    header = read_header(rewritten)
    assert header.is_log_append_time
    assert (header.base_timestamp, header.max_timestamp) == (NOW + 5, NOW + 5)


def test_rewrite_that_becomes_too_large_is_refused() -> None:
    batch = build_batch([NewRecord(value=bytes(5000), timestamp=NOW)], codec=Codec.GZIP)
    rules = ProduceRules(target_codec=Codec.NONE, max_message_bytes=1000)
    header = validate_produced(batch, rules, NOW)
    with pytest.raises(RecordError) as caught:
        rewrite_batch(batch, header, rules, NOW)
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
