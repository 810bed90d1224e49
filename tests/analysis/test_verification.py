"""What a check of stored partitions notices, and what it lets pass."""

import os
from pathlib import Path

import pytest
from tests.analysis.analysis_testing import TIME_MS, keyed, stored, write_segment

from penstock.analysis.verification import SENTENCES_MAX, Verdict, verify_partition
from penstock.model.ids import TopicPartition
from penstock.storage import offset_index, time_index
from penstock.storage.read_only_filesystem import ReadOnlyFileSystem


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Two segments of two batches each, with true indexes."""
    path = tmp_path / "orders-0"
    write_segment(path, [keyed("a", "b"), keyed("c")])
    write_segment(path, [keyed("d"), keyed("e")], base_offset=3)
    size = len((path / f"{0:020d}.log").read_bytes())
    first = _size_of_first_batch(path / f"{0:020d}.log")
    assert first < size
    write_index(path, 0, [(2, first)])
    write_time_index(path, 0, [(TIME_MS + 1, 1)])
    write_index(path, 3, [])
    write_time_index(path, 3, [(TIME_MS, 0)])
    return path


def _size_of_first_batch(path: Path) -> int:
    return 12 + int.from_bytes(path.read_bytes()[8:12])


def write_index(directory: Path, base_offset: int, entries: list[tuple[int, int]]) -> None:
    data = b"".join(offset_index.ENTRY.pack(*entry) for entry in entries)
    (directory / f"{base_offset:020d}.index").write_bytes(data)


def write_time_index(directory: Path, base_offset: int, entries: list[tuple[int, int]]) -> None:
    data = b"".join(time_index.ENTRY.pack(*entry) for entry in entries)
    (directory / f"{base_offset:020d}.timeindex").write_bytes(data)


def verify(directory: Path) -> Verdict:
    return verify_partition(ReadOnlyFileSystem(), stored(directory.parent), progress=lambda done: None)


def test_sound_partition_has_no_damage_and_no_remarks(directory: Path) -> None:
    verdict = verify(directory)

    assert verdict.is_sound
    assert verdict.remarks == []
    assert (verdict.segment_count, verdict.batch_count, verdict.index_entry_count) == (2, 4, 3)


def test_index_with_reserved_room_is_read_up_to_it(directory: Path) -> None:
    for suffix in (".index", ".timeindex"):
        path = directory / f"{0:020d}{suffix}"
        path.write_bytes(path.read_bytes() + bytes(1_200))

    assert verify(directory).as_json()["index_entries"] == 3


def test_flipped_bit_is_damage(directory: Path) -> None:
    path = directory / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)

    verdict = verify(directory)
    assert "the checksum does not match" in verdict.damage[0]
    assert not verdict.is_sound


def test_torn_end_of_the_newest_segment_is_a_remark(directory: Path) -> None:
    path = directory / f"{3:020d}.log"
    os.truncate(path, path.stat().st_size - 1)

    verdict = verify(directory)
    assert verdict.is_sound
    assert "no whole batch" in verdict.remarks[0]


@pytest.mark.parametrize(
    ("entries", "said"),
    [([(2, 7)], "no batch begins at 7"), ([(1, 0), (1, 93)], ""), ([(5, 0)], "ends with offset 1, not 5")],
    ids=["position", "second", "offset"],
)
def test_offset_index_that_lies_is_damage(directory: Path, entries: list[tuple[int, int]], said: str) -> None:
    write_index(directory, 0, entries)

    (sentence,) = verify(directory).damage
    assert said in sentence


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([(TIME_MS, 1)], f"has the time {TIME_MS + 1}, not {TIME_MS}"),
        ([(TIME_MS, 9)], "there is no offset 9"),
    ],
    ids=["time", "offset"],
)
def test_time_index_that_lies_is_damage(directory: Path, entries: list[tuple[int, int]], said: str) -> None:
    write_time_index(directory, 0, entries)

    (sentence,) = verify(directory).damage
    assert said in sentence


def test_index_of_the_newest_segment_that_lies_is_a_remark(directory: Path) -> None:
    write_index(directory, 3, [(0, 5)])

    verdict = verify(directory)
    assert verdict.is_sound
    assert "no batch begins at 5" in verdict.remarks[0]


def test_missing_index_is_a_remark(directory: Path) -> None:
    (directory / f"{0:020d}.index").unlink()

    verdict = verify(directory)
    assert verdict.is_sound
    assert "is missing; a broker makes it anew" in verdict.remarks[0]


def test_missing_offsets_are_a_remark_and_repeated_ones_damage(tmp_path: Path) -> None:
    directory = tmp_path / "orders-0"
    write_segment(directory, [keyed("a")])
    write_segment(directory, [keyed("b")], base_offset=5)
    verdict = verify(directory)
    assert verdict.is_sound
    assert "Offsets 1 to 4 are missing" in " ".join(verdict.remarks)

    write_segment(directory, [keyed("a", "b", "c")])
    write_segment(directory, [keyed("d")], base_offset=2)
    assert "offset 2 follows 2" in verify(directory).damage[0]


def test_segment_that_goes_away_meanwhile_is_a_remark(directory: Path) -> None:
    found = stored(directory.parent)
    os.unlink(found.segments[0].path())

    verdict = verify_partition(ReadOnlyFileSystem(), found, progress=lambda done: None)
    assert verdict.is_sound
    assert "was removed" in verdict.remarks[0]


def test_sentences_of_a_verdict_are_limited() -> None:
    verdict = Verdict(partition=TopicPartition("t", 0))
    for number in range(2 * SENTENCES_MAX):
        verdict.note_damage(str(number))
        verdict.remark(str(number))

    assert len(verdict.damage) == len(verdict.remarks) == SENTENCES_MAX
