import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.log_testing import (
    fill,
    make_batch,
    make_disk,
    make_log,
    put,
    read_all,
    reopen_clean,
)

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, CorruptLogError
from penstock.records.batch import read_header, stamp
from penstock.storage.log import FilePiece, Log, MemoryPiece
from penstock.storage.log_config import LogConfig


def log_of(count: int, *, tail_bytes: int, size: int = 100, interval: int = 0) -> tuple[Log, list[bytes]]:
    log = make_log(make_disk(), LogConfig(index_interval_bytes=interval), tail_bytes=tail_bytes)
    return log, fill(log, count, size=size)


def test_recent_batches_come_from_memory_uncopied() -> None:
    log = make_log(make_disk())
    batch = make_batch(b"value")
    put(log, batch)
    log.flush()
    found = log.read(0, max_bytes=1_000, end_offset=1)
    assert found.pieces == [MemoryPiece(batch)]
    assert isinstance(found.pieces[0], MemoryPiece)
    assert found.pieces[0].buffer is batch
    assert not log.needs_verification(found)


def test_older_batches_come_as_one_range_of_the_file() -> None:
    log, batches = log_of(10, tail_bytes=0)
    found = log.read(3, max_bytes=10_000, end_offset=10)
    assert [type(piece) for piece in found.pieces] == [FilePiece]
    assert found.read_bytes() == b"".join(batches[3:])
    assert found.size == len(b"".join(batches[3:]))


@pytest.mark.parametrize("tail_bytes", [0, 10**6])
def test_read_begins_with_the_batch_that_contains_the_offset(tail_bytes: int) -> None:
    log = make_log(make_disk(), tail_bytes=tail_bytes)
    first, second = make_batch(b"0", b"1", b"2"), make_batch(b"3", b"4", b"5")
    put(log, first)
    put(log, second)
    log.flush()
    assert log.read(4, max_bytes=1_000, end_offset=6).read_bytes() == second
    assert log.read(2, max_bytes=1_000, end_offset=6).read_bytes() == first + second


@pytest.mark.parametrize("tail_bytes", [0, 10**6])
def test_slice_knows_whether_there_is_more_below_the_end_offset(tail_bytes: int) -> None:
    log, batches = log_of(10, tail_bytes=tail_bytes)
    size = len(batches[0])
    assert log.read(2, max_bytes=3 * size + 1, end_offset=6).has_more
    assert not log.read(2, max_bytes=3 * size, end_offset=5).has_more
    assert log.read(2, max_bytes=1, end_offset=4).has_more
    assert not log.read(2, max_bytes=1, end_offset=3).has_more
    assert log.read(2, max_bytes=1, end_offset=3, minimum_one_batch=False) == (0, [], None, None, True)
    assert not log.read(10, max_bytes=1, end_offset=10).has_more


def test_slice_that_ends_with_its_segment_has_more() -> None:
    log = make_log(make_disk(), LogConfig(segment_bytes=500), tail_bytes=0)
    fill(log, 10, size=100)
    found = log.read(0, max_bytes=10_000, end_offset=10)
    assert found.has_more
    assert not log.read(found.end_offset, max_bytes=10_000, end_offset=found.end_offset + 1).has_more


@pytest.mark.parametrize("tail_bytes", [0, 10**6])
def test_read_stops_at_the_end_offset(tail_bytes: int) -> None:
    log, batches = log_of(10, tail_bytes=tail_bytes)
    assert log.read(2, max_bytes=10_000, end_offset=5).read_bytes() == b"".join(batches[2:5])
    assert log.read(5, max_bytes=10_000, end_offset=5).size == 0
    assert log.read(7, max_bytes=10_000, end_offset=5).size == 0


@pytest.mark.parametrize("tail_bytes", [0, 10**6])
def test_read_never_goes_beyond_what_is_flushed(tail_bytes: int) -> None:
    log, batches = log_of(3, tail_bytes=tail_bytes)
    put(log, make_batch(b"not flushed"))
    assert log.read(0, max_bytes=10_000, end_offset=4).read_bytes() == b"".join(batches)
    assert log.read(3, max_bytes=10_000, end_offset=4).size == 0
    assert log.read(4, max_bytes=10_000, end_offset=4).size == 0


@pytest.mark.parametrize("tail_bytes", [0, 10**6])
def test_first_batch_comes_whole_or_not_at_all(tail_bytes: int) -> None:
    log, batches = log_of(3, tail_bytes=tail_bytes)
    assert log.read(1, max_bytes=10, end_offset=3).read_bytes() == batches[1]
    assert log.read(1, max_bytes=10, end_offset=3, minimum_one_batch=False).size == 0
    whole = log.read(1, max_bytes=len(batches[1]), end_offset=3, minimum_one_batch=False)
    assert whole.read_bytes() == batches[1]


def test_read_from_a_file_ends_at_a_batch_border_where_the_index_knows_one() -> None:
    log, batches = log_of(10, tail_bytes=0)
    found = log.read(2, max_bytes=len(batches[0]) * 3 + 50, end_offset=10)
    assert found.read_bytes() == b"".join(batches[2:5])


def test_read_from_a_file_without_index_entries_may_cut_the_last_batch() -> None:
    log, batches = log_of(10, tail_bytes=0, interval=4096)
    found = log.read(2, max_bytes=len(batches[0]) * 2 + 50, end_offset=10)
    assert found.read_bytes() == b"".join(batches)[len(batches[0]) * 2 :][: found.size]
    assert found.size == len(batches[0]) * 2 + 50


def test_offset_outside_the_log_is_out_of_range() -> None:
    log, _ = log_of(3, tail_bytes=0)
    log.advance_log_start(1)
    for offset in (-1, 0, 4):
        with pytest.raises(ApiError, match=r"outside 1 to 3") as caught:
            log.read(offset, max_bytes=100, end_offset=3)
        assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.read(3, max_bytes=100, end_offset=3).size == 0


def test_reader_goes_on_in_the_next_segment() -> None:
    config = LogConfig(segment_bytes=500, index_interval_bytes=0)
    log = make_log(make_disk(), config, tail_bytes=0)
    batches = fill(log, 20)
    assert len(log.describe_segments()) == 10
    assert read_all(log) == b"".join(batches)


def test_sequential_reader_finds_its_next_position_without_searching() -> None:
    log, batches = log_of(200, tail_bytes=0)
    position = offset = 0
    while offset < 200:
        found = log.read(offset, max_bytes=1_000, end_offset=200)
        piece = found.pieces[0]
        assert isinstance(piece, FilePiece)
        assert piece.position == position
        position += found.size
        offset += found.size // len(batches[0])


def test_positions_are_not_remembered_across_a_cut() -> None:
    log, batches = log_of(10, tail_bytes=0)
    log.read(0, max_bytes=len(batches[0]) * 3 + 5, end_offset=10)
    log.truncate(2)
    longer = make_batch(b"x" * 500)
    put(log, longer)
    after = make_batch(b"y")
    put(log, after)
    log.flush()
    assert log.read(3, max_bytes=1_000, end_offset=4).read_bytes() == after


def test_damaged_range_is_not_served_and_what_lies_around_it_is() -> None:
    disk = make_disk()
    log, batches = log_of(10, tail_bytes=0)
    log = make_log(disk, LogConfig(index_interval_bytes=0), tail_bytes=0)
    batches = fill(log, 10)
    log = reopen_clean(disk, log)
    size = len(batches[0])
    disk.flip_bit(f"{log.directory}/{0:020d}.log", 5 * size + 100)
    found = log.read(0, max_bytes=10_000, end_offset=10)
    with pytest.raises(CorruptLogError, match="offset 5: the checksum does not match"):
        log.verify(found)
    assert log.read(0, max_bytes=10_000, end_offset=10).read_bytes() == b"".join(batches[:5])
    with pytest.raises(CorruptLogError, match="cannot be served"):
        log.read(5, max_bytes=10_000, end_offset=10)
    behind = log.read(6, max_bytes=10_000, end_offset=10)
    log.verify(behind)
    assert behind.read_bytes() == b"".join(batches[6:])


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=30),
    st.sampled_from([0, 150, 4096]),
    st.sampled_from([0, 600, 10**6]),
    st.sampled_from([400, 10**6]),
    st.integers(1, 1_500),
)
def test_any_read_is_a_run_of_the_log_from_the_right_batch(
    counts: list[int], interval: int, tail_bytes: int, segment_bytes: int, max_bytes: int
) -> None:
    config = LogConfig(index_interval_bytes=interval, segment_bytes=segment_bytes)
    log = make_log(make_disk(), config, tail_bytes=tail_bytes)
    content, starts = b"", []
    for count in counts:
        batch = make_batch(*[b"value" * 5] * count)
        starts.append((put(log, batch).last_offset, len(content)))
        log.flush()
        content += batch
    for offset in range(log.log_end_offset):
        start = next(position for last, position in starts if last >= offset)
        found = log.read(offset, max_bytes=max_bytes, end_offset=log.flushed_offset)
        data = found.read_bytes()
        assert found.size == len(data)
        assert content[start:].startswith(data)
        assert len(data) >= read_header(data).size_bytes
        assert len(data) <= max(max_bytes, read_header(data).size_bytes)


def test_gap_that_compaction_left_before_the_end_offset_is_an_empty_read() -> None:
    log = make_log(make_disk(), LogConfig(cleanup_policy=frozenset({"compact"})), tail_bytes=0)
    put(log, make_batch(b"0"))
    later = make_batch(b"9")
    stamp(later, 9, 0)
    log.append_as_follower(later, read_header(later))
    log.flush()
    assert log.read(5, max_bytes=1_000, end_offset=7).size == 0
    assert log.read(5, max_bytes=1_000, end_offset=10).read_bytes() == later


def test_many_readers_keep_being_right() -> None:
    log, batches = log_of(300, tail_bytes=0)
    size = len(batches[0])
    for offset in [*range(0, 290), *range(0, 290)]:
        found = log.read(offset, max_bytes=size * 2 + 1, end_offset=300)
        assert found.read_bytes() == batches[offset] + batches[offset + 1]
