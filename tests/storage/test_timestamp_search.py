from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.log_testing import make_batch, make_disk, make_log, put, reopen_clean

from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.record import NewRecord
from penstock.storage.log import Log
from penstock.storage.log_config import LogConfig


def log_with(*first_timestamps: int, records: int = 3, config: LogConfig | None = None) -> Log:
    """Batches of ``records`` records whose timestamps count up from each first one."""
    log = make_log(make_disk(), config or LogConfig(index_interval_bytes=0), tail_bytes=0)
    for timestamp in first_timestamps:
        put(log, make_batch(*[b"v"] * records, timestamp=timestamp))
    log.flush()
    return log


def test_record_inside_a_batch_is_found() -> None:
    log = log_with(100, 200, 300)
    assert log.offset_for_timestamp(201) == (4, 201)
    assert log.offset_for_timestamp(103) == (3, 200)
    assert log.offset_for_timestamp(0) == (0, 100)
    assert log.offset_for_timestamp(302) == (8, 302)
    assert log.offset_for_timestamp(303) is None


def test_record_inside_a_compressed_batch_is_found() -> None:
    log = make_log(make_disk(), tail_bytes=0)
    put(log, make_batch(b"a" * 50, b"b" * 50, b"c" * 50, timestamp=10, codec=Codec.ZSTD))
    log.flush()
    assert log.offset_for_timestamp(12) == (2, 12)


def test_first_of_several_in_disorder_is_found() -> None:
    log = log_with(500, 100, 400, 600, records=1)
    assert log.offset_for_timestamp(450) == (0, 500)
    assert log.offset_for_timestamp(501) == (3, 600)


def test_records_before_the_log_start_are_not_found() -> None:
    log = log_with(100, 200, 300)
    log.advance_log_start(2)
    assert log.offset_for_timestamp(0) == (2, 102)
    assert log.offset_for_timestamp(102) == (2, 102)
    log.advance_log_start(4)
    assert log.offset_for_timestamp(150) == (4, 201)


def test_records_that_are_not_flushed_are_not_found() -> None:
    log = log_with(100)
    put(log, make_batch(b"v", timestamp=900))
    assert log.offset_for_timestamp(500) is None
    assert log.offset_of_max_timestamp() == (2, 102)
    log.flush()
    assert log.offset_for_timestamp(500) == (3, 900)
    assert log.offset_of_max_timestamp() == (3, 900)


def test_log_append_time_is_the_time_of_every_record() -> None:
    log = make_log(make_disk(), LogConfig(log_append_time=True))
    put(log, make_batch(b"a", b"b", timestamp=5), now=700)
    log.flush()
    assert log.offset_for_timestamp(6) == (0, 700)
    assert log.offset_of_max_timestamp() == (0, 700)


def test_largest_timestamp_is_found_in_any_segment_and_its_first_record_wins() -> None:
    log = log_with(100, 900, 200, 902, 300, config=LogConfig(segment_bytes=200, index_interval_bytes=0))
    assert len(log.describe_segments()) == 3
    assert log.offset_of_max_timestamp() == (11, 904)
    assert log.largest_timestamp == 904


def test_empty_log_has_no_times() -> None:
    log = make_log(make_disk())
    assert log.offset_of_max_timestamp() is None
    assert log.offset_for_timestamp(0) is None
    assert log.largest_timestamp == -1


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=25),
    st.sampled_from([0, 300]),
    st.sampled_from([300, 10**6]),
    st.integers(0, 60),
    st.booleans(),
)
def test_search_equals_a_linear_search(
    times: list[int], interval: int, segment_bytes: int, wanted: int, reopens: bool
) -> None:
    config = LogConfig(index_interval_bytes=interval, segment_bytes=segment_bytes)
    disk = make_disk()
    log = make_log(disk, config, tail_bytes=0)
    records = []
    for time in times:
        base_offset = put(log, make_batch(b"a", b"b", timestamp=time)).base_offset
        records += [(base_offset, time), (base_offset + 1, time + 1)]
    log.flush()
    if reopens:
        log = reopen_clean(disk, log)
    assert log.offset_for_timestamp(wanted) == next((r for r in records if r[1] >= wanted), None)
    largest = max(time for _, time in records)
    assert log.offset_of_max_timestamp() == next(r for r in records if r[1] == largest)


def test_log_start_inside_a_batch_whose_later_records_are_older() -> None:
    log = make_log(make_disk(), LogConfig(index_interval_bytes=0), tail_bytes=0)
    newest_first = [NewRecord(value=b"v", timestamp=timestamp) for timestamp in (500, 100)]
    put(log, build_batch(newest_first))
    put(log, make_batch(b"v", timestamp=400))
    log.flush()
    log.advance_log_start(1)
    assert log.offset_for_timestamp(300) == (2, 400)
    assert log.offset_for_timestamp(450) is None


def test_time_of_an_offset_is_that_of_its_batch() -> None:
    log = log_with(100, 200, 300, config=LogConfig(segment_bytes=150))
    assert [log.timestamp_at(offset) for offset in range(10)] == [102] * 3 + [202] * 3 + [302] * 3 + [None]
    assert len(log.describe_segments()) > 1


def test_time_of_what_is_not_flushed_is_unknown() -> None:
    log = log_with(100)
    put(log, make_batch(b"v", timestamp=900))
    assert log.timestamp_at(3) is None
    log.flush()
    assert log.timestamp_at(3) == 900
