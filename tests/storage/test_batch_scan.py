import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.log_testing import make_batch, make_disk

from penstock.model.errors import CorruptLogError
from penstock.records.batch import stamp
from penstock.storage import batch_scan
from penstock.storage.batch_scan import BadBatch, BatchChecker, Continuity, walk
from penstock.storage.filesystem import File

PATH = "/data/segment.log"


def batches_of(*sizes: int, epoch: int = 0) -> list[bytearray]:
    made = []
    for number, size in enumerate(sizes):
        batch = make_batch(bytes(size), b"second")
        stamp(batch, number * 2, epoch)
        made.append(batch)
    return made


def file_of(*parts: bytes | bytearray) -> File:
    file = make_disk().open(PATH, create=True)
    file.write(0, parts)
    return file


def check(file: File, *, gaps_below: int = 0, start: int = 0) -> tuple[list[int], BatchChecker]:
    checker = BatchChecker(file, start, file.size(), expected_offset=0, latest_epoch=-1)
    checker.gaps_below = gaps_below
    offsets = [located.header.base_offset for run in checker.runs() for located in run.batches]
    return offsets, checker


@settings(deadline=None)
@given(st.lists(st.integers(0, 3_000), max_size=30), st.integers(61, 2_000))
def test_walk_finds_every_batch(sizes: list[int], chunk_bytes: int) -> None:
    batches = batches_of(*sizes)
    file = file_of(*batches)
    found = list(walk(file, 0, file.size(), Continuity(0), chunk_bytes=chunk_bytes))
    assert [located.header.base_offset for located in found] == [n * 2 for n in range(len(sizes))]
    assert [located.end - located.position for located in found] == [len(batch) for batch in batches]


def test_walk_into_nonsense_names_file_and_position() -> None:
    file = file_of(*batches_of(10), b"nonsense" * 20)
    with pytest.raises(CorruptLogError, match=r"/data/segment\.log, position \d+: Batch has magic"):
        list(walk(file, 0, file.size(), Continuity(0)))


def test_walk_beyond_the_file_is_corruption_and_ends() -> None:
    file = file_of(*batches_of(10))
    with pytest.raises(CorruptLogError):
        list(walk(file, 0, file.size() + 5, Continuity(0)))


def test_walk_notices_a_base_offset_that_does_not_follow() -> None:
    first, second, third = batches_of(10, 10, 10)
    file = file_of(first, third)
    with pytest.raises(CorruptLogError, match="base offset 4, expected was 2"):
        list(walk(file, 0, file.size(), Continuity(0)))
    gaps = Continuity(0, gaps_below=1000)
    assert [located.header.base_offset for located in walk(file, 0, file.size(), gaps)] == [0, 4]
    file = file_of(third, second)
    with pytest.raises(CorruptLogError, match="base offset 2, expected was 6"):
        list(walk(file, 0, file.size(), gaps))


@settings(deadline=None)
@given(st.lists(st.integers(0, 5_000), max_size=20), st.sampled_from([61, 100, 4_000, 1 << 20]))
def test_good_batches_pass_in_runs_with_their_bytes(sizes: list[int], chunk_bytes: int) -> None:
    batches = batches_of(*sizes)
    file = file_of(*batches)
    patch = pytest.MonkeyPatch()
    patch.setattr(batch_scan, "CHECK_CHUNK_BYTES", chunk_bytes)
    try:
        checker = BatchChecker(file, 0, file.size(), expected_offset=0, latest_epoch=-1)
        runs = list(checker.runs())
    finally:
        patch.undo()
    assert checker.bad is None
    assert b"".join(run.data for run in runs) == b"".join(batches)
    assert checker.expected_offset == len(sizes) * 2
    assert checker.position == file.size()


def test_flipped_bit_stops_before_its_batch() -> None:
    batches = batches_of(100, 100, 100)
    batches[1][-3] ^= 4
    offsets, checker = check(file_of(*batches))
    assert offsets == [0]
    assert checker.bad == BadBatch(len(batches[0]), 2, "the checksum does not match")


def test_batch_of_another_offset_is_bad_though_its_checksum_is_good() -> None:
    first, second, third = batches_of(100, 100, 100)
    offsets, checker = check(file_of(first, third, second))
    assert offsets == [0]
    assert checker.bad is not None
    assert checker.bad.reason == "base offset 4, expected was 2"


def test_gap_is_good_only_where_compaction_makes_gaps() -> None:
    first, _, third = batches_of(100, 100, 100)
    assert check(file_of(first, third), gaps_below=5)[0] == [0, 4]
    assert check(file_of(third, first), gaps_below=5)[0] == [4]


def test_epoch_that_goes_back_is_bad() -> None:
    first, second = batches_of(100, 100)
    stamp(first, 0, 5)
    stamp(second, 2, 4)
    offsets, checker = check(file_of(first, second))
    assert offsets == [0]
    assert checker.bad is not None
    assert checker.bad.reason == "leader epoch 4 after 5"


def test_cut_batch_and_cut_header_are_bad() -> None:
    batch = batches_of(100)[0]
    for length in (1, 60, 61, len(batch) - 1):
        offsets, checker = check(file_of(batch[:length]))
        assert offsets == []
        assert checker.bad is not None
        assert checker.bad.position == 0


def test_huge_length_is_bad_without_reading_that_much() -> None:
    batch = batches_of(100)[0]
    batch[8:12] = (2**31 - 1).to_bytes(4, "big")
    _, checker = check(file_of(batch))
    assert checker.bad is not None
    assert "2147483659 bytes" in checker.bad.reason


def test_negative_offset_delta_is_bad() -> None:
    batch = batches_of(100)[0]
    batch[23:27] = (-1).to_bytes(4, "big", signed=True)
    _, checker = check(file_of(batch))
    assert checker.bad is not None
    assert "delta -1" in checker.bad.reason


def test_file_shorter_than_it_should_be_is_bad() -> None:
    file = file_of(*batches_of(100))
    checker = BatchChecker(file, 0, file.size() + 500, expected_offset=0, latest_epoch=-1)
    assert len([run for run in checker.runs()]) == 1
    assert checker.bad is not None
    assert checker.bad.reason == "the file ends 500 bytes early"
