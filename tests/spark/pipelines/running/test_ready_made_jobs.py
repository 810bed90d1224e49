"""Search, analysis and mirroring in pipeline files."""

import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics, run_pipeline

from penstock import Admin, Consumer
from penstock.spark.archive.replay.progress import ReplayProgress
from penstock.spark.archive.stores.local_store import LocalStore
from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.model import Trigger, TriggerKind
from penstock.spark.pipelines.problems import PipelineFileError
from penstock.spark.pipelines.running.events import Event, FlowEnded, FlowFailed, FlowStarted
from penstock.spark.pipelines.running.runner import Runner
from penstock.spark.pipelines.steps import STEPS
from penstock.testing import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEARCHING = """
name: searching
storage: state
sources:
  orders: {options: {subscribe: T.orders, startingOffsets: earliest}}
flows:
  large:
    from: orders
    steps:
      - search: {where: "json:amount > 100", text: paid}
    sink: {options: {topic: T.large}}
  report:
    analyze: {topics: [T.orders], html: report.html, parquet: counts}
"""

MIRRORING = """
name: mirroring
storage: state
flows:
  copy:
    mirror: {from: "SOURCE", topics: [T.orders], rename: "copy.{topic}"}
"""


REPLAYING = """
name: replaying
storage: state
sources:
  orders: {options: {subscribe: T.orders, startingOffsets: earliest}}
flows:
  again:
    replay: {topic: T.orders, to: T.again PACE}
  beside:
    from: orders
    steps:
      - dead_letters: {where: value IS NULL, topic: T.dlq}
    sink: {options: {topic: T.beside}}
"""


RECORDS = 30
"""Of a replay that writes one a second: more than the flow beside it has seconds to end in."""


def written(directory: Path, text: str, prefix: str, source: str = "") -> Path:
    path = directory / "pipeline.yml"
    path.write_text(text.replace("T.", f"{prefix}.").replace("SOURCE", source))
    return path


@pytest.mark.spark
def test_pipeline_searches_and_reports(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    topics, prefix = Topics(bootstrap), unique("jobs")
    topics.create(f"{prefix}.orders", f"{prefix}.large")
    orders = [{"id": number, "amount": number * 50, "state": "paid"} for number in range(5)]
    topics.put(f"{prefix}.orders", [*orders, {"id": 5, "amount": 1000, "state": "open"}, "no JSON"], key="")

    run_pipeline(spark, written(tmp_path, SEARCHING, prefix), bootstrap)

    assert [record.json()["id"] for record in topics.read(f"{prefix}.large")] == [3, 4]
    assert f"{prefix}.orders" in (tmp_path / "report.html").read_text()
    assert counted_in(spark, tmp_path) == [7]

    topics.put(f"{prefix}.orders", [{"id": 6, "amount": 7, "state": "open"}])
    run_pipeline(spark, tmp_path / "pipeline.yml", bootstrap)

    assert counted_in(spark, tmp_path) == [8], "the next run counts anew"


def counted_in(spark: "SparkSession", directory: Path) -> list[int]:
    """What the table of partitions says."""
    rows = spark.read.parquet(str(directory / "counts" / "partitions")).collect()
    return [row["messages"] for row in rows]


@pytest.mark.spark
def test_replay_leaves_the_other_flows_alone_and_stops_between_two_chunks(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    topics, prefix = Topics(bootstrap), unique("jobs")
    topics.create(*(f"{prefix}.{name}" for name in ("orders", "again", "dlq", "beside")))
    topics.put(f"{prefix}.orders", [{"id": number} for number in range(RECORDS)])
    paced = REPLAYING.replace("PACE", ", recordsPerSecond: 1")
    progress = ReplayProgress(LocalStore(tmp_path / "state" / "flows" / "again" / "checkpoint"))
    events: list[Event] = []

    def is_stopped() -> bool:
        return FlowEnded("beside") in events and progress.done().chunks > 0

    runner = Runner(
        spark,
        load_pipeline(written(tmp_path, paced, prefix)),
        topic_options={"kafka.bootstrap.servers": bootstrap},
        listener=events.append,
        trigger=Trigger(TriggerKind.AVAILABLE_NOW),
    )
    outcome = runner.run(is_stopped)

    assert (outcome.was_stopped, outcome.failures) == (True, ())
    assert events.index(FlowStarted("again")) < events.index(FlowEnded("beside"))
    assert events[-1] == FlowEnded("again")
    done = progress.done()
    assert 0 < done.records < RECORDS
    assert len(topics.read(f"{prefix}.again")) == done.records

    run_pipeline(spark, written(tmp_path, REPLAYING.replace("PACE", ""), prefix), bootstrap)

    assert topics.read(f"{prefix}.again") == topics.read(f"{prefix}.orders")


@pytest.mark.spark
def test_replay_whose_directory_was_removed_replays_all_of_it(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    topics, prefix = Topics(bootstrap), unique("jobs")
    topics.create(f"{prefix}.orders", f"{prefix}.again")
    ending = "replay: {topic: T.orders, to: T.again, recordsPerSecond: PACE}"
    text = f"name: p\nstorage: state\nflows:\n  one:\n    {ending}\n"
    topics.put(f"{prefix}.orders", [{"id": number} for number in range(3)])
    run_pipeline(spark, written(tmp_path, text.replace("PACE", "1"), prefix), bootstrap)
    first = topics.read(f"{prefix}.orders")
    assert topics.read(f"{prefix}.again") == first

    shutil.rmtree(tmp_path / "state" / "flows" / "one")
    topics.put(f"{prefix}.orders", [{"id": 3}])
    run_pipeline(spark, written(tmp_path, text.replace("PACE", "1000"), prefix), bootstrap)

    assert topics.read(f"{prefix}.again") == [*first, *topics.read(f"{prefix}.orders")]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("ending", "cause"),
    [
        ("replay: {topic: T.orders, to: T.nowhere}", "There is no topic"),
        ("analyze: {topics: [T.orders], parquet: state}", "There is 'something' in"),
    ],
    ids=["replay", "analyze"],
)
def test_ending_that_fails_is_told_as_a_flow(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path, ending: str, cause: str
) -> None:
    topics, prefix = Topics(bootstrap), unique("jobs")
    topics.create(f"{prefix}.orders")
    (tmp_path / "state" / "something").mkdir(parents=True)
    file = written(tmp_path, f"name: p\nstorage: state\nflows:\n  one:\n    {ending}\n", prefix)

    ran = run_pipeline(spark, file, bootstrap, must_succeed=False)

    (failure,) = ran.outcome.failures
    assert cause in failure.cause
    assert ran.events == [FlowStarted("one"), FlowFailed(failure)]


@pytest.mark.spark
def test_pipeline_mirrors_records_and_groups(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    prefix = unique("jobs")
    with Broker() as source:
        elsewhere = Topics(source.bootstrap_servers)
        elsewhere.create(f"{prefix}.orders", partitions=2)
        elsewhere.put(f"{prefix}.orders", [{"id": number} for number in range(20)], key="id")
        with Consumer(
            bootstrap_servers=source.bootstrap_servers,
            group_id=prefix,
            auto_offset_reset="earliest",
        ) as consumer:
            consumer.subscribe(f"{prefix}.orders")
            for _, _ in zip(range(20), consumer.messages(idle_timeout=20), strict=False):
                pass
        before = set(threading.enumerate())
        run_pipeline(spark, written(tmp_path, MIRRORING, prefix, source.bootstrap_servers), bootstrap)
        for thread in set(threading.enumerate()) - before:
            if thread.name.startswith("attend "):
                thread.join(30)

        copied = Topics(bootstrap).read(f"copy.{prefix}.orders")
        assert [record._replace(headers={}) for record in copied] == elsewhere.read(f"{prefix}.orders")
    with Admin(bootstrap_servers=bootstrap) as admin:
        offsets = admin.group_offsets(prefix)
        ends = admin.list_offsets(list(offsets), "latest")
    assert len(offsets) == 2
    # A partition ends with the marker of a transaction, which may have come after its end was asked for.
    assert all(ends[partition] - 1 <= offset <= ends[partition] for partition, offset in offsets.items())


@pytest.mark.parametrize("name", ["mirror", "analyze"])
def test_example_of_an_ending_can_be_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "pipeline.yml"
    path.write_text(f"name: p\nstorage: s\nflows:\n  one:\n    {STEPS[name].example}\n")

    ending = load_pipeline(path).flows["one"].ending

    assert ending is not None
    assert ending.name == name


@pytest.mark.parametrize(
    ("flow", "complaint"),
    [
        ("analyze: {topics: [orders]}", "'analyze' writes nothing."),
        ('mirror: {from: "a:1", topics: [x], pattern: y}', "'mirror' has to know which topics."),
        ("{from: orders, steps: [search: {}], sink: {options: {topic: t}}}", "'search' looks for nothing."),
    ],
    ids=["analyze", "mirror", "search"],
)
def test_jobs_without_sense_are_refused(flow: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "pipeline.yml"
    source = "sources: {orders: {options: {subscribe: orders}}}"
    path.write_text(f"name: p\nstorage: s\n{source}\nflows:\n  one:\n    {flow}\n")

    with pytest.raises(PipelineFileError, match=complaint):
        load_pipeline(path)
