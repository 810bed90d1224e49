"""``penstock archive`` against a real broker, in the Spark that all tests share."""

import os
import shutil
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName
from tests.spark.archive.weeks import (
    HOUR_MS,
    MONDAY_MS,
    by_partition,
    consume,
    create_topic,
    produce,
    week,
)

from penstock.cli.archive.replaying import ReplayWishes, replay_records
from penstock.cli.archive.spark import SparkWishes
from penstock.spark.archive.manifest import Manifest
from penstock.spark.archive.replay import running
from penstock.spark.archive.replay.progress import Done, ReplayProgress
from penstock.spark.archive.stores.local_store import LocalStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PARTITIONS = 2
RECORDS = week(60, partitions=PARTITIONS, days=1)
SECONDS_MAX = 60.0


@pytest.fixture
def terminal(
    spark: "SparkSession",
    bootstrap: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Terminal:
    """Commands go to the shared broker, and to the shared Spark."""
    return Terminal(bootstrap, capsys, monkeypatch)


@pytest.fixture
def topic(bootstrap: str, unique: UniqueName) -> str:
    name = unique("commands")
    create_topic(bootstrap, name, partitions=PARTITIONS)
    produce(bootstrap, name, RECORDS[:40])
    return name


def test_topic_is_archived_merged_listed_and_replayed(
    terminal: Terminal, bootstrap: str, topic: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "archive")
    run = ("archive", "run", path, topic, "--available-now")

    ran = terminal.must(*run, "--codec", "snappy", "--max-records", "1000")
    assert ran.output.startswith("batch 0  40 records  ")
    assert f"40 records archived in {path}" in ran.errors
    produce(bootstrap, topic, RECORDS[40:])
    batch = terminal.must(*run, "--json").json()
    assert (batch["batch"], batch["rows"], batch["lag"]) == (1, 20, 0)

    planned = terminal.must("archive", "compact", path, "--dry-run", "--json").json()
    (hour,) = planned
    assert (hour["topic"], hour["hour"]) == (topic, "00")
    merged = terminal.must("archive", "compact", path, "--grace", "0s").output
    assert f"{hour['files']} files (" in merged
    assert "merged into 1 (" in merged
    assert f"{hour['files']} old files and 0 leftovers deleted" in merged
    assert terminal.must("archive", "compact", path, "--dry-run").output == "Nothing to merge.\n"

    listed = terminal.must("archive", "list", path).output.splitlines()[1].split()
    assert listed[:3] == [topic, "60", "1"]

    words = ("archive", "replay", topic, "--from", path, "--to", f"{topic}-again")
    assert "60 records would be replayed" in terminal.must(*words, "--dry-run").output
    refused = terminal.run(*words)
    assert refused.code == 2
    assert "There is no topic" in refused.errors
    assert "60 records are in" in terminal.must(*words, "--create").output
    again = terminal.must(*words)
    assert "60 records are done" in again.errors
    assert consume(bootstrap, f"{topic}-again", partitions=PARTITIONS) == by_partition(
        RECORDS, partitions=PARTITIONS
    )


def test_archiving_goes_on_until_it_is_interrupted(terminal: Terminal, topic: str, tmp_path: Path) -> None:
    store = LocalStore(tmp_path)

    def interrupt() -> None:
        deadline = time.monotonic() + SECONDS_MAX
        while Manifest(store).load().version < 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    ran = terminal.must("archive", "run", str(tmp_path), topic, "--every", "1s", "--max-bytes", "1MB")
    watcher.join(SECONDS_MAX)

    assert "records archived" in ran.errors
    assert sum(file.rows for file in Manifest(store).load().files.values()) == 40


def test_failure_of_a_query_is_told_in_a_sentence(terminal: Terminal, topic: str, tmp_path: Path) -> None:
    (tmp_path / "_manifest").mkdir()
    (tmp_path / "_manifest" / "00000000000000000000.json").write_text('{"format": 99}')

    answer = terminal.run("archive", "run", str(tmp_path), topic, "--available-now")

    assert answer.code == 1
    assert "has format 99, and this version of Penstock knows 1: use a newer one" in answer.errors


def test_live_stretch_is_replayed_and_remembered_elsewhere(
    terminal: Terminal, bootstrap: str, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    target = f"{topic}-part"
    create_topic(bootstrap, target, partitions=1)
    words = ("archive", "replay", topic, "--to", target, "--offsets", "1:3-7", "--name", topic)

    told = terminal.must(*words, "--json").json()

    assert told == {"topic": target, "chunks": 1, "records": 5, "offsets": 5}
    assert (tmp_path / "penstock" / "replays" / topic / "plan.json").exists()
    sent = by_partition(RECORDS[:40], partitions=PARTITIONS)[1][3:8]
    (written,) = consume(bootstrap, target, partitions=1).values()
    assert [record[1:] for record in written] == [record[1:] for record in sent]


def replay_of_last_hours(bootstrap: str, topic: str, path: Path) -> ReplayWishes:
    """Of the last two hours, at two o'clock: of everything."""
    return ReplayWishes(
        topic=topic,
        to=f"{topic}-again",
        archive=str(path),
        since="2h",
        until=None,
        offsets=(),
        records_per_second=None,
        creates_topic=True,
        is_dry_run=False,
        name=None,
        checkpoint=None,
        options={},
        bootstrap_server=bootstrap,
        to_bootstrap_server=bootstrap,
        spark=SparkWishes(),
        as_json=False,
        now_ms=MONDAY_MS + 2 * HOUR_MS,
    )


def interrupt(wishes: ReplayWishes, monkeypatch: pytest.MonkeyPatch) -> None:
    """End after the second chunk is written, before that was noted."""
    finish = ReplayProgress.finish

    def interrupted(progress: ReplayProgress, chunk: int, *, records: int) -> Done:
        if chunk == 1:
            raise KeyboardInterrupt
        return finish(progress, chunk, records=records)

    with monkeypatch.context() as patch:
        patch.setattr(ReplayProgress, "finish", interrupted)
        patch.setattr(running, "CHUNK_SIZE", 10)
        with pytest.raises(KeyboardInterrupt):
            replay_records(wishes)


@pytest.mark.parametrize("says", ["nothing", "name", "checkpoint"])
def test_replay_of_the_last_hours_goes_on_with_those_that_it_began_with(
    terminal: Terminal,
    bootstrap: str,
    topic: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    says: str,
) -> None:
    terminal.must("archive", "run", str(tmp_path), topic, "--available-now")
    wishes = replay_of_last_hours(bootstrap, topic, tmp_path)
    if says == "checkpoint":
        wishes = replace(wishes, checkpoint=str(tmp_path / "_kept"))
    interrupt(wishes, monkeypatch)
    name = capsys.readouterr().err.split()[-1]

    later = replace(wishes, now_ms=wishes.now_ms + HOUR_MS // 3, name=name if says == "name" else None)
    replay_records(later)

    written = consume(bootstrap, wishes.to, partitions=PARTITIONS)
    assert written == by_partition(RECORDS[:40], partitions=PARTITIONS)


@pytest.mark.parametrize("is_forgotten", [False, True], ids=["remembered", "forgotten"])
def test_replay_of_the_last_hours_begins_anew_when_it_is_over(
    terminal: Terminal, bootstrap: str, topic: str, tmp_path: Path, is_forgotten: bool
) -> None:
    """They are other hours then, also for the sink if nobody else remembers the first ones."""
    terminal.must("archive", "run", str(tmp_path), topic, "--available-now")
    wishes = replay_of_last_hours(bootstrap, topic, tmp_path)
    replay_records(wishes)
    if is_forgotten:
        shutil.rmtree(tmp_path / "_replays")

    since_ms = MONDAY_MS + HOUR_MS // 3
    replay_records(replace(wishes, now_ms=since_ms + 2 * HOUR_MS))

    again = [record for record in RECORDS[:40] if record.timestamp_ms >= since_ms]
    assert 0 < len(again) < 40
    written = consume(bootstrap, wishes.to, partitions=PARTITIONS)
    assert written == by_partition(RECORDS[:40] + again, partitions=PARTITIONS)
