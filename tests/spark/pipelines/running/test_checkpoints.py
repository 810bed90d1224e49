"""What a checkpoint says, without Spark."""

from pathlib import Path

import pytest

from penstock.spark.pipelines.running.checkpoints import (
    EARLIEST,
    OffsetRange,
    local_checkpoint,
    parse_offsets_file,
    range_between,
)

OFFSETS = """v1
{"batchWatermarkMs":1767225650000,"batchTimestampMs":1,"conf":{}}
{"orders":{"0":3,"1":4},"@id orders yNA0ib":{},"@group g":{}}
-
12
"""


def test_offsets_file_has_the_watermark_and_the_end_in_each_source() -> None:
    planned = parse_offsets_file(OFFSETS)

    assert (planned.began_ms, planned.watermark_ms) == (1, 1_767_225_650_000)
    assert planned.ends == ({"orders": {"0": 3, "1": 4}}, {}, {})


def test_offsets_file_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 'v2'"):
        parse_offsets_file("v2\n{}\n")


def test_range_begins_at_the_earliest_record_of_partitions_that_are_new() -> None:
    between = range_between({"t": {"0": 3}}, {"t": {"0": 5, "1": 2}})

    assert between == OffsetRange({"t": {"0": 3, "1": EARLIEST}}, {"t": {"0": 5, "1": 2}})
    assert not between.is_empty
    assert range_between({"t": {"0": 5}}, {"t": {"0": 5}}).is_empty


def test_checkpoint_in_a_directory_knows_what_is_committed(tmp_path: Path) -> None:
    checkpoint = local_checkpoint(tmp_path.as_uri())
    assert checkpoint is not None
    assert (checkpoint.last_committed(), checkpoint.planned(0)) == (-1, None)

    for name in ("offsets", "commits"):
        (tmp_path / name).mkdir()
        for number in ("7", "8", "10", ".9.crc", "9.tmp"):
            (tmp_path / name / number).write_text(OFFSETS)
    (tmp_path / "offsets" / "11").write_text(OFFSETS)

    assert (checkpoint.first_known(), checkpoint.last_committed()) == (7, 10)
    planned = checkpoint.planned(11)
    assert planned is not None
    assert planned.watermark_ms == 1_767_225_650_000


def test_checkpoint_elsewhere_is_none_of_this_machine() -> None:
    assert local_checkpoint("hdfs://name/state") is None
