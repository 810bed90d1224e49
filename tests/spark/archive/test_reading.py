"""Parts of an archive, and an archive together with its topic."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.spark.archive.archived_weeks import ArchivedWeek, collected, rows_of, without_last_batch
from tests.spark.archive.weeks import DAY_MS, MONDAY_MS

from penstock.model.errors import UsageError
from penstock.spark import archive
from penstock.spark.columns.schema import COLUMNS, COLUMNS_WITHOUT_HEADERS

pytestmark = pytest.mark.spark

SINCE_MS = MONDAY_MS + 2 * DAY_MS
UNTIL_MS = MONDAY_MS + 4 * DAY_MS + 1


def test_archive_has_the_columns_of_the_source(made: ArchivedWeek) -> None:
    live = made.spark.read.format("penstock").options(**made.options, includeHeaders="true").load()
    whole = archive.read(made.spark, str(made.path))
    plain = archive.read(made.spark, str(made.path), include_headers=False)

    assert whole.schema == live.schema
    assert whole.columns == list(COLUMNS)
    assert plain.columns == list(COLUMNS_WITHOUT_HEADERS)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata"])
def test_times_are_those_of_records_whatever_the_zone_of_the_session(made: ArchivedWeek, zone: str) -> None:
    session = made.spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    since = datetime.fromtimestamp(SINCE_MS / 1000, UTC)

    rows = archive.read(session, str(made.path), since=since, until=UNTIL_MS)

    assert collected(rows) == {
        number: [record for record in records if SINCE_MS <= record.timestamp_ms < UNTIL_MS]
        for number, records in made.expected.items()
    }


def test_offsets_are_read_without_the_second(made: ArchivedWeek) -> None:
    rows = archive.read(made.spark, str(made.path), offsets={made.topic: {0: (5, 400), 2: (0, 1)}})

    assert collected(rows) == {0: made.expected[0][5:400], 2: made.expected[2][:1]}


def test_files_that_cannot_have_it_are_not_opened(made: ArchivedWeek) -> None:
    rows = archive.read(made.spark, str(made.path), since=SINCE_MS, until=SINCE_MS + DAY_MS)

    opened = rows.inputFiles()
    assert {path.split("/date=")[1][:10] for path in opened} == {"2026-02-02"}
    assert len(opened) < len(made.state().files)


def test_nothing_is_an_empty_table(made: ArchivedWeek) -> None:
    nothing = archive.read(made.spark, str(made.path), until=MONDAY_MS)

    assert nothing.columns == list(COLUMNS)
    assert nothing.count() == 0


def test_place_without_an_archive_is_refused(made: ArchivedWeek) -> None:
    with pytest.raises(UsageError, match=r"There is no archive in .*nowhere"):
        archive.read(made.spark, str(made.path / "nowhere"))


def test_archive_and_topic_together_have_everything_once(copy: ArchivedWeek) -> None:
    without_last_batch(copy)
    archived = sum(map(len, rows_of(copy).values()))
    assert 0 < archived < len(copy.records)

    whole = archive.read_with_topic(copy.spark, str(copy.path), copy.topic, options=copy.options)

    assert collected(whole) == copy.expected


@pytest.mark.parametrize("name", ["startingTimestamp", "startingoffsets", "startingOffsetsByTimestamp"])
def test_place_to_begin_at_would_bring_twice_what_the_archive_has(made: ArchivedWeek, name: str) -> None:
    with pytest.raises(UsageError, match=f"Leave out '{name}'"):
        archive.read_with_topic(
            made.spark, str(made.path), made.topic, options={**made.options, name: "earliest"}
        )


def test_what_the_topic_had_before_its_archive_began_is_there_too(made: ArchivedWeek, tmp_path: Path) -> None:
    begun_late = replace(made, path=tmp_path / "late")
    starts = {number: len(records) // 2 for number, records in made.expected.items()}
    begun_late.archive(startingOffsets=json.dumps({made.topic: starts}))
    archived = sum(map(len, rows_of(begun_late).values()))
    assert 0 < archived < len(made.records)

    whole = archive.read_with_topic(made.spark, str(begun_late.path), made.topic, options=made.options)

    assert collected(whole) == made.expected
