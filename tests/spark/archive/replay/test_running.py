"""A week replayed: the same records in the same order, exactly once, with their times and headers."""

import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from tests.conftest import UniqueName
from tests.spark.archive.archived_weeks import PARTITIONS, RECORDS, ArchivedWeek, Rows
from tests.spark.archive.weeks import DAY_MS, MONDAY_MS, consume, create_topic

from penstock.model.errors import UsageError
from penstock.spark.archive.compacting import compact
from penstock.spark.archive.compaction_plan import CompactionSizes
from penstock.spark.archive.intervals import Interval
from penstock.spark.archive.parquet_files import FileSettings
from penstock.spark.archive.replay import running
from penstock.spark.archive.replay.counting import count_records
from penstock.spark.archive.replay.progress import ReplayProgress
from penstock.spark.archive.replay.running import Replayed, Target, replay
from penstock.spark.archive.replay.sources import ArchiveSource, Source, TopicSource
from penstock.spark.archive.stores.local_store import LocalStore

pytestmark = pytest.mark.spark

SINCE_MS = MONDAY_MS + 2 * DAY_MS
UNTIL_MS = MONDAY_MS + 4 * DAY_MS


class Replaying:
    """Replays of one test."""

    def __init__(self, week: ArchivedWeek, directory: Path, target: str) -> None:
        self.week = week
        self.progress = ReplayProgress(LocalStore(directory))
        self.target = Target(topic=target, options={"kafka.bootstrap.servers": week.bootstrap})

    def run(self, source: Source, **settings: Any) -> Replayed:
        return replay(
            self.week.spark, source, self.target, name=self.target.topic, progress=self.progress, **settings
        )

    def interrupt(self, source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
        """End after the sink has the second chunk, before that was noted."""
        finish = self.progress.finish

        def interrupted(chunk: int, *, records: int) -> Any:
            if chunk == 1:
                raise KeyboardInterrupt
            return finish(chunk, records=records)

        with monkeypatch.context() as patch:
            patch.setattr(self.progress, "finish", interrupted)
            patch.setattr(running, "CHUNK_SIZE", 400)
            with pytest.raises(KeyboardInterrupt):
                self.run(source)

    def written(self, *, partitions: int = PARTITIONS) -> Rows:
        return consume(self.week.bootstrap, self.target.topic, partitions=partitions)


@pytest.fixture
def replaying(made: ArchivedWeek, unique: UniqueName, tmp_path: Path) -> Replaying:
    target = unique("again")
    create_topic(made.bootstrap, target, partitions=PARTITIONS)
    return Replaying(made, tmp_path / "progress", target)


def archived(week: ArchivedWeek, **part: Any) -> ArchiveSource:
    return ArchiveSource(path=str(week.path), topic=week.topic, **part)


def live(week: ArchivedWeek, **part: Any) -> TopicSource:
    return TopicSource(options={"kafka.bootstrap.servers": week.bootstrap}, topic=week.topic, **part)


def between(rows: Rows, since_ms: int, until_ms: int) -> Rows:
    return {
        number: [record for record in records if since_ms <= record.timestamp_ms < until_ms]
        for number, records in rows.items()
    }


def test_week_is_the_same_after_archive_compaction_and_replay(
    copy: ArchivedWeek, replaying: Replaying, monkeypatch: pytest.MonkeyPatch
) -> None:
    for merged in compact(copy.spark, copy.store, sizes=CompactionSizes(), settings=FileSettings()):
        assert merged.file is not None
    monkeypatch.setattr(running, "CHUNK_SIZE", 1000)
    seen: list[int] = []

    done = replaying.run(archived(copy), on_chunk=lambda replayed: seen.append(replayed.done.records))

    assert done.is_over
    assert done.done == (3, RECORDS)
    assert seen[-1] == RECORDS
    assert len(seen) == 3
    assert replaying.written() == copy.expected


def test_replay_that_was_interrupted_writes_nothing_twice(
    made: ArchivedWeek, replaying: Replaying, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = archived(made, since_ms=SINCE_MS, until_ms=UNTIL_MS)

    replaying.interrupt(source, monkeypatch)
    assert replaying.run(source).is_over
    assert replaying.run(source).is_over

    assert replaying.written() == between(made.expected, SINCE_MS, UNTIL_MS)


def test_replay_that_goes_on_keeps_its_times_and_its_name(
    made: ArchivedWeek, replaying: Replaying, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaying.interrupt(archived(made, since_ms=SINCE_MS, until_ms=UNTIL_MS), monkeypatch)

    done = replay(made.spark, archived(made), replaying.target, name="another", progress=replaying.progress)

    assert done.is_over
    assert done.plan.name == replaying.target.topic
    assert replaying.written() == between(made.expected, SINCE_MS, UNTIL_MS)


def test_replay_that_goes_on_with_other_times_or_offsets_is_refused(
    made: ArchivedWeek, replaying: Replaying, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left of it would be another part of the week than what is written."""
    replaying.interrupt(archived(made, since_ms=SINCE_MS), monkeypatch)

    for part in ({"since_ms": SINCE_MS + DAY_MS}, {"until_ms": UNTIL_MS}, {"offsets": {0: Interval(0, 9)}}):
        with pytest.raises(UsageError, match=f"was begun with {next(iter(part))} .* leave that out"):
            replaying.run(archived(made, **part))


def test_replay_that_is_stopped_ends_between_two_chunks_and_goes_on_there(
    made: ArchivedWeek, replaying: Replaying
) -> None:
    source = archived(made, offsets={0: Interval(0, 10)})
    seen: list[Replayed] = []

    stopped = replaying.run(
        source, records_per_second=2, on_chunk=seen.append, is_stopped=lambda: len(seen) == 1
    )

    assert not stopped.is_over
    assert [stopped] == seen
    assert stopped.done == replaying.progress.done()
    assert stopped.done.chunks == 1
    assert replaying.run(source).is_over
    assert replaying.written()[0] == made.expected[0][:10]


def test_stretch_of_a_live_topic_is_replayed_and_no_group_touched(
    made: ArchivedWeek, replaying: Replaying
) -> None:
    group = Consumer({"bootstrap.servers": made.bootstrap, "group.id": f"of-{replaying.target.topic}"})
    before = groups(made.bootstrap)

    replaying.run(live(made, offsets={0: Interval(5, 105), 2: Interval(0, 7)}))

    assert replaying.written() == {0: made.expected[0][5:105], 1: [], 2: made.expected[2][:7]}
    sinks = {name for name in groups(made.bootstrap) if name.startswith("penstock-replay-")}
    assert groups(made.bootstrap) - sinks == before - sinks
    group.close()


def groups(bootstrap: str) -> set[str]:
    from confluent_kafka.admin import AdminClient

    found = AdminClient({"bootstrap.servers": bootstrap}).list_consumer_groups().result(30)
    return {group.group_id for group in found.valid}


def test_target_with_fewer_partitions_gets_records_by_key_in_order(
    made: ArchivedWeek, unique: UniqueName, tmp_path: Path
) -> None:
    target = unique("narrow")
    create_topic(made.bootstrap, target, partitions=2)
    replaying = Replaying(made, tmp_path / "progress", target)
    offsets = {0: Interval(0, 100), 2: Interval(0, 50)}

    done = replaying.run(archived(made, offsets=offsets))

    assert not done.plan.keeps_partitions
    written = replaying.written(partitions=2)
    assert sum(map(len, written.values())) == 150
    for number in (0, 2):
        for key in {record.key for record in made.expected[number]} - {None}:
            sent = [r.value for r in made.expected[number][slice(*offsets[number])] if r.key == key]
            places = [n for n, records in written.items() if key in {record.key for record in records}]
            assert len(places) <= 1
            found = [r.value for n in places for r in written[n] if r.key == key]
            assert _is_subsequence(sent, found)


def _is_subsequence(short: list[Any], long: list[Any]) -> bool:
    rest = iter(long)
    return all(each in rest for each in short)


def test_replay_is_not_faster_than_asked(made: ArchivedWeek, replaying: Replaying) -> None:
    began = time.monotonic()
    replaying.run(archived(made, offsets={0: Interval(0, 100)}), records_per_second=40)

    assert time.monotonic() - began >= 100 / 40
    assert replaying.progress.done() == (2, 100)


@pytest.mark.parametrize("make", [archived, live])
def test_counting_says_what_would_be_replayed(made: ArchivedWeek, make: Any) -> None:
    counts = count_records(made.spark, make(made, since_ms=SINCE_MS, until_ms=UNTIL_MS))

    expected = between(made.expected, SINCE_MS, UNTIL_MS)
    assert {count.partition: count.records for count in counts} == {n: len(r) for n, r in expected.items()}
    for count in counts:
        records = expected[count.partition]
        assert (count.first_timestamp_ms, count.last_timestamp_ms) == (
            records[0].timestamp_ms,
            records[-1].timestamp_ms,
        )
        assert count.first_offset == made.expected[count.partition].index(records[0])
        assert count.value_bytes == sum(len(record.value or b"") for record in records)


def test_replay_under_a_name_that_is_taken_is_refused(made: ArchivedWeek, replaying: Replaying) -> None:
    replaying.run(archived(made, offsets={0: Interval(0, 1)}))

    with pytest.raises(UsageError, match=r"was begun with source .*: choose another name"):
        replaying.run(live(made, offsets={0: Interval(0, 1)}))


def test_topic_that_is_not_there_is_refused(made: ArchivedWeek, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no topic 'nowhere' to write to"):
        Replaying(made, tmp_path, "nowhere").run(archived(made))
