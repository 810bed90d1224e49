from hypothesis import given
from hypothesis.strategies import booleans, builds, integers, just, lists, none, sampled_from, tuples

from penstock.records.batch import BatchHeader, crc_matches, read_header, stamp
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.record import NewRecord, decode_records
from penstock.storage.batch_rewriting import empty_batch, keep_records, keep_with_horizon
from penstock.storage.record_keys import batch_payload, record_starts

records = builds(
    NewRecord,
    key=just(b"key"),
    value=none() | sampled_from([b"", b"v" * 300]),
    headers=just(()) | just((("h", b"x"),)),
    timestamp=integers(0, 2**42),
)
kept_records = lists(tuples(records, booleans()), min_size=1, max_size=8).filter(
    lambda pairs: any(is_kept for _, is_kept in pairs)
)


def original(made: list[NewRecord], codec: Codec = Codec.NONE, *, log_append_time: bool = False) -> bytearray:
    batch = build_batch(
        made,
        codec=codec,
        producer_id=5,
        producer_epoch=2,
        base_sequence=9,
        transactional=True,
        log_append_time=log_append_time,
    )
    stamp(batch, 1000, 4)
    return batch


def untouched(header: BatchHeader) -> tuple[int, ...]:
    return (
        header.base_offset,
        header.last_offset_delta,
        header.leader_epoch,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.is_transactional,
        header.is_log_append_time,
    )


@given(kept_records, sampled_from(list(Codec)), none() | integers(0, 2**43), booleans())
def test_kept_records_are_as_they_were(
    pairs: list[tuple[NewRecord, bool]], codec: Codec, horizon: int | None, log_append_time: bool
) -> None:
    batch = original([record for record, _ in pairs], codec, log_append_time=log_append_time)
    header = read_header(batch)
    payload = batch_payload(memoryview(batch), header)
    starts = record_starts(payload, header.record_count)
    fates = bytearray(is_kept for _, is_kept in pairs)
    if horizon is None:
        changed = keep_records(header, payload, starts, fates)
    else:
        changed = keep_with_horizon(header, payload, starts, fates, horizon=horizon)
    after = read_header(changed)
    assert crc_matches(changed, after)
    assert untouched(after) == untouched(header)
    assert after.codec == codec
    before = decode_records(batch, header)
    expected = [record for record, (_, is_kept) in zip(before, pairs, strict=True) if is_kept]
    assert decode_records(changed, after) == expected
    assert after.max_timestamp == max(record.timestamp for record in expected)
    assert after.has_delete_horizon == (horizon is not None)
    if horizon is not None:
        assert after.base_timestamp == horizon


@given(sampled_from(list(Codec)))
def test_empty_batch_keeps_what_its_header_says(codec: Codec) -> None:
    batch = original([NewRecord(key=b"a", value=b"1", timestamp=50), NewRecord(key=b"b", value=b"2")], codec)
    header = read_header(batch)
    changed = empty_batch(header)
    after = read_header(changed)
    assert crc_matches(changed, after)
    assert len(changed) == 61
    assert untouched(after) == untouched(header)
    assert (after.record_count, after.codec, after.base_timestamp) == (0, 0, -1)
    assert after.max_timestamp == header.max_timestamp
    assert decode_records(changed) == []
