"""A week in an archive: everything once, however often the query was stopped and batches came again."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyarrow import parquet
from tests.conftest import UniqueName
from tests.spark.archive.archived_weeks import (
    RECORDS,
    ArchivedWeek,
    collected,
    forget_last_batch,
    rows_of,
    without_last_batch,
)
from tests.spark.archive.weeks import (
    DAY_MS,
    DAYS,
    HOURS,
    MONDAY_MS,
    create_topic,
    delete_topic,
    produce,
    week,
)

from penstock.spark.archive import archiving
from penstock.spark.archive.archiving import BatchArchiver
from penstock.spark.archive.cleaning import clean
from penstock.spark.archive.compacting import carry_out, compact
from penstock.spark.archive.compaction_plan import CompactionSizes, plan_compaction
from penstock.spark.archive.errors import ArchiveError
from penstock.spark.archive.files import ArchivedFile
from penstock.spark.archive.incarnations import Log
from penstock.spark.archive.intervals import Interval
from penstock.spark.archive.manifest import Manifest
from penstock.spark.archive.parquet_files import (
    FILE_COLUMNS,
    FileSettings,
    move_into_place,
    new_attempt,
    now_ms,
    write_files,
)
from penstock.spark.archive.paths import STAGING, merged_prefix
from penstock.spark.archive.reading import read_files
from penstock.spark.archive.replay.sources import ArchiveSource
from penstock.spark.archive.stores.local_store import LocalStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SETTINGS = FileSettings()


def test_archive_has_every_record_once_with_all_it_had(made: ArchivedWeek) -> None:
    assert rows_of(made) == made.expected
    assert sum(file.rows for file in made.state().files.values()) == RECORDS


def test_files_are_in_the_directories_of_their_hours(made: ArchivedWeek) -> None:
    days = [datetime.fromtimestamp((MONDAY_MS + day * DAY_MS) / 1000, UTC) for day in range(DAYS)]
    expected = {
        f"topic={made.topic}/date={day:%Y-%m-%d}/hour={HOURS[number % 2]:02}"
        for number, day in enumerate(days)
    }

    assert {file.hour.directory for file in made.state().files.values()} == expected
    assert {file.path for file in made.store.files("")} == set(made.state().files)
    assert not made.store.directories(STAGING)


def test_manifest_says_what_files_hold(made: ArchivedWeek) -> None:
    for file in made.state().files.values():
        rows = parquet.read_table(made.path / file.path, partitioning=None)
        assert rows.column_names == list(FILE_COLUMNS)
        assert rows.num_rows == file.rows
        assert set(rows["partition"].to_pylist()) == set(file.spans)
        assert rows.select(["partition", "offset"]).to_pylist() == sorted(
            rows.select(["partition", "offset"]).to_pylist(), key=lambda row: tuple(row.values())
        )


def test_archive_covers_the_topic_without_a_gap(made: ArchivedWeek) -> None:
    counts = {number: len(records) for number, records in made.expected.items()}

    assert made.state().covered == {
        Log(made.topic, 0, number): (Interval(0, count),) for number, count in counts.items()
    }


def test_batch_that_comes_again_is_not_doubled(copy: ArchivedWeek) -> None:
    files = copy.state().files
    forget_last_batch(copy)

    assert copy.archive() == 0
    assert copy.state().files == files


def test_batch_of_a_crash_before_its_commit_replaces_its_files(copy: ArchivedWeek) -> None:
    before = set(copy.state().files)
    without_last_batch(copy)
    abandoned = before - set(copy.state().files)

    assert copy.archive() == 1
    assert abandoned
    assert not abandoned & {file.path for file in copy.store.files("")}
    assert rows_of(copy) == copy.expected


@pytest.mark.parametrize("options", [{}, {"startingOffsets": "earliest"}], ids=["goes-on", "from-beginning"])
def test_lost_checkpoint_doubles_nothing(copy: ArchivedWeek, options: dict[str, str]) -> None:
    shutil.rmtree(copy.checkpoint)

    assert copy.archive(**options) == 0
    assert sum(file.rows for file in copy.state().files.values()) == RECORDS


def test_compaction_leaves_one_file_an_hour_with_the_same_records(copy: ArchivedWeek) -> None:
    before = copy.state()
    merged = list(compact(copy.spark, copy.store, sizes=CompactionSizes(), settings=SETTINGS))

    state = copy.state()
    assert all(each.file is not None for each in merged)
    assert len(state.files) == len({file.hour for file in state.files.values()}) < len(before.files)
    assert state.covered == before.covered
    assert rows_of(copy) == copy.expected
    assert list(compact(copy.spark, copy.store, sizes=CompactionSizes(), settings=SETTINGS)) == []

    removed, _ = clean(copy.store, Manifest(copy.store), grace_ms=0, now_ms=now_ms())
    assert set(removed) == set(before.files) - set(state.files)
    assert {file.path for file in copy.store.files("")} == set(state.files)
    assert rows_of(copy) == copy.expected


def test_compaction_that_was_abandoned_at_any_step_is_repeated(copy: ArchivedWeek) -> None:
    before = copy.state()
    merge, *_ = plan_compaction(before.files.values(), CompactionSizes(), now_ms=now_ms())
    rows = read_files(copy.spark.newSession(), copy.store, merge.files)

    attempt = new_attempt()
    staged = write_files(rows, copy.store, attempt, settings=SETTINGS)
    assert copy.state() == before
    moved = move_into_place(copy.store, staged, attempt, prefix=merged_prefix(attempt.began_ms))
    assert copy.state() == before
    assert rows_of(copy) == copy.expected

    assert carry_out(copy.spark, copy.store, merge, settings=SETTINGS).file is not None
    assert rows_of(copy) == copy.expected
    assert not {file.path for file in moved} & set(copy.state().files)

    tomorrow_ms = now_ms() + 2 * DAY_MS
    removed, orphans = clean(copy.store, Manifest(copy.store), grace_ms=DAY_MS, now_ms=tomorrow_ms)
    assert set(removed) == {file.path for file in merge.files}
    assert set(orphans) == {*(file.path for file in moved), attempt.staging}


def test_merge_of_files_that_others_have_merged_is_given_up(copy: ArchivedWeek) -> None:
    merge, *_ = plan_compaction(copy.state().files.values(), CompactionSizes(), now_ms=now_ms())
    winner = carry_out(copy.spark, copy.store, merge, settings=SETTINGS)
    state = copy.state()

    assert carry_out(copy.spark, copy.store, merge, settings=SETTINGS).file is None
    assert copy.state() == state
    assert winner.file is not None
    assert {file.path for file in copy.store.files("")} == {*state.files, *state.removed}


def test_merge_that_would_lose_records_is_refused(copy: ArchivedWeek) -> None:
    state = copy.state()
    merge, *_ = plan_compaction(state.files.values(), CompactionSizes(), now_ms=now_ms())
    first, second = merge.files[:2]
    shutil.copyfile(copy.path / first.path, copy.path / second.path)

    with pytest.raises(ArchiveError, match="Nothing was changed"):
        carry_out(copy.spark, copy.store, merge, settings=SETTINGS)
    assert copy.state() == state


def test_archiving_goes_on_while_files_are_merged(copy: ArchivedWeek) -> None:
    """Records come for hours whose files somebody has begun to merge."""
    without_last_batch(copy)
    merges = plan_compaction(copy.state().files.values(), CompactionSizes(), now_ms=now_ms())
    assert merges

    assert copy.archive() == 1
    for merge in merges[-2:]:
        assert carry_out(copy.spark, copy.store, merge, settings=SETTINGS).file is not None

    assert rows_of(copy) == copy.expected
    assert copy.archive() == 0


def test_batch_that_two_archive_at_once_is_there_once(
    copy: ArchivedWeek, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one commits when this one has written its files already."""
    without_last_batch(copy)
    last = copy.state().version + 1
    rows = copy.spark.read.format("penstock").options(**copy.options, includeHeaders="true").load()

    def archiver() -> BatchArchiver:
        checkpoint = LocalStore(copy.checkpoint)
        return BatchArchiver(store=copy.store, checkpoint=checkpoint, settings=SETTINGS)

    def write_late(*arguments: Any, **settings: Any) -> list[ArchivedFile]:
        written = write_files(*arguments, **settings)
        monkeypatch.setattr(archiving, "write_files", write_files)
        archiver().archive(rows, last)
        return written

    monkeypatch.setattr(archiving, "write_files", write_late)
    archiver().archive(rows, last)

    assert copy.state().version == last
    assert rows_of(copy) == copy.expected
    assert {file.path for file in copy.store.files("")} == set(copy.state().files)
    assert not copy.store.directories(STAGING)


def test_topic_that_was_made_anew_is_archived_beside_the_old_one(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    archived = ArchivedWeek(
        spark=spark,
        bootstrap=bootstrap,
        topic=unique("anew"),
        path=tmp_path,
        records=week(20, partitions=1, days=1),
    )
    for part in (archived.records[:12], archived.records[12:]):
        create_topic(bootstrap, archived.topic, partitions=1)
        produce(bootstrap, archived.topic, part)
        assert archived.archive(onDataLoss="skip") == 1
        delete_topic(bootstrap, archived.topic)

    state = archived.state()
    assert state.covered == {
        Log(archived.topic, 0, 0): (Interval(0, 12),),
        Log(archived.topic, 1, 0): (Interval(0, 8),),
    }
    source = ArchiveSource(path=str(tmp_path), topic=archived.topic)
    first, second = source.phases(spark)
    assert collected(source.rows(spark, first))[0] == archived.records[:12]
    assert collected(source.rows(spark, second))[0] == archived.records[12:]


def test_topic_that_was_made_anew_is_merged_beside_the_old_one(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    """Their offsets are the same, so only what the manifest says keeps them apart and in order."""
    archived = ArchivedWeek(
        spark=spark,
        bootstrap=bootstrap,
        topic=unique("anew"),
        path=tmp_path,
        records=week(24, partitions=1, days=1),
    )
    for part in (archived.records[:12], archived.records[12:]):
        create_topic(bootstrap, archived.topic, partitions=1)
        for some in (part[:6], part[6:]):
            produce(bootstrap, archived.topic, some)
            assert archived.archive(onDataLoss="skip") == 1
        delete_topic(bootstrap, archived.topic)
    source = ArchiveSource(path=str(tmp_path), topic=archived.topic)
    planned = source.phases(spark)

    merged = list(compact(spark, archived.store, sizes=CompactionSizes(), settings=SETTINGS))

    assert [each.merge.group.incarnation for each in merged] == [0, 1]
    assert sorted(file.incarnation for file in archived.state().files.values()) == [0, 1]
    assert source.phases(spark) == planned
    first, second = planned
    assert collected(source.rows(spark, first))[0] == archived.records[:12]
    assert collected(source.rows(spark, second))[0] == archived.records[12:]
    assert list(compact(spark, archived.store, sizes=CompactionSizes(), settings=SETTINGS)) == []


def test_merge_of_files_of_two_incarnations_is_refused(copy: ArchivedWeek) -> None:
    state = copy.state()
    merge, *_ = plan_compaction(state.files.values(), CompactionSizes(), now_ms=now_ms())
    first, *others = merge.files
    mixed = merge._replace(files=(replace(first, incarnation=1), *others))

    with pytest.raises(ArchiveError, match="Nothing was changed"):
        carry_out(copy.spark, copy.store, mixed, settings=SETTINGS)
    assert copy.state() == state
