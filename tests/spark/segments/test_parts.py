"""Files cut into parts, and read: the same rows however they are cut."""

from pathlib import Path
from typing import Any

import pytest
from tests.analysis.analysis_testing import keyed, write_segment

from penstock.model.errors import CorruptLogError
from penstock.spark.options.definition import OptionError
from penstock.spark.segments.options import BrokerOptions, FileOptions, segments_options
from penstock.spark.segments.parts import FilePart, plan_files
from penstock.spark.segments.readers import read_part
from penstock.storage.read_only_filesystem import ReadOnlyFileSystem

BATCH = keyed("a", "b", "c")


def options(directory: Path, **more: str) -> FileOptions:
    made = segments_options({"path": str(directory), **more})
    assert isinstance(made, FileOptions)
    return made


def planned(made: FileOptions) -> list[FilePart]:
    return plan_files(ReadOnlyFileSystem(), made)


def rows(made: FileOptions, columns: tuple[str, ...] = ("topic", "partition", "offset")) -> list[Any]:
    tables = [table for part in planned(made) for table in read_part(part, made, columns)]
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


def test_every_segment_is_a_part_and_internal_topics_are_left_out(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-0", [BATCH, BATCH])
    write_segment(tmp_path / "orders-0", [BATCH], base_offset=6)
    write_segment(tmp_path / "orders-1", [BATCH])
    write_segment(tmp_path / "__consumer_offsets-0", [BATCH])

    assert len(planned(options(tmp_path))) == 3
    expected = [("orders", 0, offset) for offset in range(9)] + [("orders", 1, offset) for offset in range(3)]
    assert rows(options(tmp_path)) == expected
    assert len(rows(options(tmp_path, subscribe="__consumer_offsets, orders"))) == 15


@pytest.mark.parametrize("part_bytes", [1, 100, 250, 100_000])
def test_large_segments_are_cut_where_batches_begin(tmp_path: Path, part_bytes: int) -> None:
    write_segment(tmp_path / "orders-0", [BATCH] * 20)
    made = options(tmp_path, maxBytesPerPartition=str(part_bytes))

    parts = planned(made)
    assert len(parts) == {1: 20, 100: 20, 250: 7, 100_000: 1}[part_bytes]
    assert [part.part.position for part in parts[1:]] == [part.part.end for part in parts[:-1]]
    assert [offset for _, _, offset in rows(made)] == list(range(60))


def test_a_batch_on_its_way_is_left_out_and_damage_is_told(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "orders-0", [BATCH, BATCH])
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    assert len(rows(options(tmp_path))) == 3

    damaged = bytearray(whole)
    damaged[80] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(CorruptLogError, match=r"position 0: the checksum does not match\. See all damage"):
        rows(options(tmp_path))


def test_a_file_that_is_gone_is_no_failure(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "orders-0", [BATCH])
    made = options(tmp_path)
    (part,) = planned(made)
    path.unlink()
    assert list(read_part(part, made, ("offset",))) == []


def test_a_topic_that_is_not_there_is_named(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-0", [BATCH])
    with pytest.raises(OptionError, match="There is no topic 'payments' in"):
        planned(options(tmp_path, subscribe="payments"))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({}, "give either path or kafka.bootstrap.servers"),
        ({"path": "d", "kafka.bootstrap.servers": "b:1"}, "give either"),
        ({"path": "d", "startingoffsets": "earliest"}, "There is no option 'startingoffsets' where files"),
        ({"path": "d", "includecontrolrecords": "yes"}, "includeControlRecords is 'yes'. It takes true or"),
        ({"path": "d", "maxbytesperpartition": "0"}, "maxBytesPerPartition is '0'. It takes a whole number"),
    ],
)
def test_wrong_options_say_what_to_write(given: dict[str, str], complaint: str) -> None:
    with pytest.raises(OptionError, match=complaint):
        segments_options(given)


def test_options_of_brokers_are_those_of_topics() -> None:
    given = {"kafka.bootstrap.servers": "b:1", "subscribe": "t", "includecontrolrecords": "TRUE"}
    made = segments_options(given)
    assert isinstance(made, BrokerOptions)
    assert made.include_control
    assert not made.include_headers
