"""Partitions of a data directory: read whole, whatever state they are in, and never changed."""

import os
from pathlib import Path

import pytest
from tests.analysis.analysis_testing import keyed, stored, write_segment

from penstock.analysis.partition_analysis import (
    NOTES_MAX,
    PartitionAnalysis,
    analyse_partition,
    sum_up,
)
from penstock.analysis.segment_outline import outline
from penstock.analysis.stored_partition import find_partitions
from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition
from penstock.storage.read_only_filesystem import ReadOnlyFileSystem

FILES = ReadOnlyFileSystem()


def analyse(data_directory: Path) -> PartitionAnalysis:
    return analyse_partition(FILES, stored(data_directory), keys_max=1_000, progress=lambda done: None)


def test_partition_of_two_segments_is_counted_whole(tmp_path: Path) -> None:
    directory = tmp_path / "orders-0"
    write_segment(directory, [keyed("a", "b"), keyed("a")])
    write_segment(directory, [keyed("c")], base_offset=3)
    (directory / f"{0:020d}.index").write_bytes(bytes(8))
    (directory / "partition.metadata").write_text("version: 0\n")

    analysis = analyse(tmp_path)
    assert analysis.statistics.message_count == 4
    assert (analysis.first_offset, analysis.next_offset) == (0, 4)
    assert analysis.files is not None
    assert (analysis.files.files, analysis.files.segments, analysis.files.index_bytes) == (4, 2, 8)
    assert analysis.notes == []


def test_progress_is_told_of_every_byte(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "orders-0", [keyed("a")] * 3)
    done: list[int] = []
    analyse_partition(FILES, stored(tmp_path), keys_max=10, progress=done.append)

    assert sum(done) == path.stat().st_size


def test_newest_segment_that_ends_in_a_batch_is_counted_up_to_it(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "orders-0", [keyed("a"), keyed("b")])
    os.truncate(path, path.stat().st_size - 3)

    analysis = analyse(tmp_path)
    assert analysis.statistics.message_count == 1
    assert "no whole batch yet" in analysis.notes[0]


def test_newest_segment_with_reserved_room_ends_where_zeros_begin(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "orders-0", [keyed("a")])
    os.truncate(path, path.stat().st_size + 100_000)

    analysis = analyse(tmp_path)
    assert analysis.statistics.message_count == 1
    assert analysis.notes == []


@pytest.mark.parametrize("is_last", [False, True])
def test_damage_is_noted_and_later_segments_are_counted(tmp_path: Path, is_last: bool) -> None:
    directory = tmp_path / "orders-0"
    path = write_segment(directory, [keyed("a"), keyed("b"), keyed("c")])
    if not is_last:
        write_segment(directory, [keyed("d")], base_offset=3)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)

    analysis = analyse(tmp_path)
    assert analysis.statistics.message_count == (1 if is_last else 2)
    assert "damage (the checksum does not match)" in analysis.notes[0]


def test_notes_of_a_partition_are_limited() -> None:
    analysis = PartitionAnalysis(partition=TopicPartition("t", 0), statistics=sum_up("t", []).statistics)
    for number in range(2 * NOTES_MAX):
        analysis.note(str(number))

    assert len(analysis.notes) == NOTES_MAX


def test_segment_that_goes_away_meanwhile_is_noted(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-0", [keyed("a")])
    found = stored(tmp_path)
    os.unlink(found.segments[0].path())

    analysis = analyse_partition(FILES, found, keys_max=10, progress=lambda done: None)
    assert "was removed before it could be read" in analysis.notes[0]


def test_topic_is_the_sum_of_its_partitions(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-0", [keyed("a", "b")])
    write_segment(tmp_path / "orders-1", [keyed("a")])
    partitions = [
        analyse_partition(FILES, found, keys_max=10, progress=lambda done: None)
        for found in find_partitions(FILES, str(tmp_path))
    ]

    topic = sum_up("orders", partitions)
    told = topic.as_json(top_max=1)
    assert (told["messages"], told["keys"]["distinct"]) == (3, 2)
    assert told["files"]["segments"] == 2
    assert [each["messages"] for each in told["partitions"]] == [2, 1]


def test_topic_of_which_one_partition_has_no_known_files_has_none(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-0", [keyed("a")])
    known = analyse(tmp_path)
    unknown = PartitionAnalysis(partition=TopicPartition("orders", 1), statistics=known.statistics)

    assert sum_up("orders", [known, unknown]).files is None


def test_directories_that_are_no_partitions_are_left_alone(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-0", [keyed("a")])
    for name in ("orders-1." + "0" * 32 + "-delete", "lost+found", "orders"):
        (tmp_path / name).mkdir()
    (tmp_path / "clicks-0").write_text("no directory")

    assert [found.partition for found in find_partitions(FILES, str(tmp_path))] == [("orders", 0)]


def test_data_directory_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no directory"):
        list(find_partitions(FILES, str(tmp_path / "nowhere")))


def test_outline_of_a_segment_is_read_from_headers(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-0", [keyed("a", "b"), keyed("c")], base_offset=10)

    found = outline(FILES, stored(tmp_path).segments[0])
    assert (found.base_offset, found.last_offset, found.batches, found.records) == (10, 12, 2, 3)
    assert found.note == ""
    assert found.latest_ms is not None


def test_outline_of_a_torn_segment_says_where_it_ends(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "orders-0", [keyed("a"), keyed("b")])
    os.truncate(path, path.stat().st_size - 3)

    found = outline(FILES, stored(tmp_path).segments[0])
    assert found.batches == 1
    assert "position" in found.note


def test_outline_of_an_empty_segment_has_no_last_offset(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-0", [])

    found = outline(FILES, stored(tmp_path).segments[0])
    assert (found.last_offset, found.earliest_ms, found.batches) == (None, None, 0)
