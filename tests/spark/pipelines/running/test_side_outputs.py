"""Side outputs at work: names that meet, and micro-batches that Spark has forgotten after a crash."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics, run_pipeline

from penstock.spark.pipelines.running.events import FlowStarted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FILE = """
name: namesakes
storage: state
sources:
  orders:
    options: {subscribe: T.in, startingOffsets: earliest, maxOffsetsPerTrigger: 1}
    value: {schema: a int, deadLetterTopic: T.unread}
flows:
  orders:
    from: orders
    steps:
      - dead_letters: {where: a > 9, topic: T.many}
    sink: {options: {topic: T.out}}
"""


@pytest.fixture
def topics(bootstrap: str) -> Topics:
    return Topics(bootstrap)


@pytest.fixture
def prefix(topics: Topics, unique: UniqueName, tmp_path: Path) -> str:
    """Of the topics of the pipeline that stands in ``p.yml`` then."""
    prefix = unique("namesakes")
    topics.create(*(f"{prefix}.{name}" for name in ("in", "unread", "many", "out")))
    (tmp_path / "p.yml").write_text(FILE.replace("T.", f"{prefix}."))
    return prefix


def values(topics: Topics, topic: str) -> list[str | None]:
    return [record.value for record in topics.read(topic)]


def test_flow_may_have_the_name_of_its_source_and_both_have_side_outputs(
    spark: "SparkSession", topics: Topics, bootstrap: str, prefix: str, tmp_path: Path
) -> None:
    topics.put(f"{prefix}.in", ["nonsense", '{"a": 10}', '{"a": 1}'])

    run_pipeline(spark, tmp_path / "p.yml", bootstrap)

    assert values(topics, f"{prefix}.unread") == ["nonsense"]
    assert values(topics, f"{prefix}.many") == ['{"a": 10}']
    assert values(topics, f"{prefix}.out") == ['{"a":1}']


def test_flow_begins_where_its_side_outputs_do_whatever_else_would_be_stronger(
    spark: "SparkSession", topics: Topics, bootstrap: str, prefix: str, tmp_path: Path
) -> None:
    """A time is looked up again when the stream begins, and may be elsewhere then."""
    strong = "startingTimestamp: 9999999999999, startingOffsetsByTimestampStrategy: latest"
    text = (tmp_path / "p.yml").read_text().replace("startingOffsets: earliest", strong)
    (tmp_path / "p.yml").write_text(text)
    topics.put(f"{prefix}.in", ["nonsense", '{"a": 1}'])
    flow = tmp_path / "state" / "flows" / "orders"
    flow.mkdir(parents=True)
    starts = {"orders": {f"{prefix}.in": {"0": 1}}}
    (flow / "sides.json").write_text(json.dumps({"batch": -1, "starts": starts}))

    run_pipeline(spark, tmp_path / "p.yml", bootstrap)

    assert values(topics, f"{prefix}.out") == ['{"a":1}']
    assert values(topics, f"{prefix}.unread") == []


def test_what_left_in_micro_batches_that_spark_has_forgotten_is_not_guessed(
    spark: "SparkSession", topics: Topics, bootstrap: str, prefix: str, tmp_path: Path
) -> None:
    topics.put(f"{prefix}.in", ["nonsense", '{"a": 1}', '{"a": 2}', '{"a": 3}'])
    run_pipeline(spark, tmp_path / "p.yml", bootstrap)
    forget(tmp_path / "state" / "flows" / "orders", side_outputs_after=0, spark_before=2)
    topics.put(f"{prefix}.in", ["more nonsense"])

    crashed = run_pipeline(spark, tmp_path / "p.yml", bootstrap, must_succeed=False)

    (failure,) = crashed.outcome.failures
    assert failure.step == "side output"
    assert "stand at micro-batch 1." in failure.cause
    assert "the first that Spark remembers is 2." in failure.cause
    assert FlowStarted("orders") not in crashed.events, "it would make Spark forget even more"
    assert values(topics, f"{prefix}.unread") == ["nonsense"]

    (tmp_path / "state" / "flows" / "orders" / "sides.json").unlink()
    run_pipeline(spark, tmp_path / "p.yml", bootstrap)

    assert values(topics, f"{prefix}.unread") == ["nonsense", "more nonsense"]


JUDGED = """
name: judged
storage: state
sources:
  orders:
    options: {subscribe: T.in, startingOffsets: earliest}
    value: {schema: "a int, ts timestamp"}
flows:
  orders:
    configuration: {spark.sql.session.timeZone: Asia/Tokyo}
    from: orders
    steps:
      - select: ['*', WHERE AS is_bad]
      - dead_letters: {where: is_bad, topic: T.many}
    sink: {options: {topic: T.out}}
"""


def order(number: int, ts: str) -> str:
    return f'{{"a": {number}, "ts": "{ts}"}}'


def test_second_look_has_the_settings_of_the_flow(
    spark: "SparkSession", topics: Topics, bootstrap: str, prefix: str, tmp_path: Path
) -> None:
    (tmp_path / "p.yml").write_text(JUDGED.replace("T.", f"{prefix}.").replace("WHERE", "hour(ts) >= 12"))
    night, afternoon = order(1, "2019-01-01T20:00:00Z"), order(2, "2019-01-01T06:00:00Z")
    topics.put(f"{prefix}.in", [night, afternoon])

    ran = run_pipeline(spark, tmp_path / "p.yml", bootstrap)

    assert ran.left() == {f"{prefix}.many": 1}
    assert values(topics, f"{prefix}.many") == [afternoon], "in Tokyo it is nine hours later"
    assert [record.json()["a"] for record in topics.read(f"{prefix}.out")] == [1]


def test_second_look_takes_for_the_present_time_what_the_first_took(
    spark: "SparkSession", topics: Topics, bootstrap: str, prefix: str, tmp_path: Path
) -> None:
    (tmp_path / "p.yml").write_text(
        JUDGED.replace("T.", f"{prefix}.").replace("WHERE", "ts > current_timestamp()")
    )
    earlier, later = order(1, "2019-01-01T00:00:00Z"), order(2, "2019-01-01T02:00:00Z")
    topics.put(f"{prefix}.in", [earlier, later])
    run_pipeline(spark, tmp_path / "p.yml", bootstrap)
    assert values(topics, f"{prefix}.many") == []

    # As if that had been in 2019, and the process had died before its second look.
    flow = tmp_path / "state" / "flows" / "orders"
    cursor = json.loads((flow / "sides.json").read_text())
    (flow / "sides.json").write_text(json.dumps({**cursor, "batch": -1}))
    planned = flow / "checkpoint" / "offsets" / "0"
    version, metadata, *ends = planned.read_text().splitlines()
    metadata = json.dumps({**json.loads(metadata), "batchTimestampMs": 1_546_304_400_000})
    planned.write_text("\n".join((version, metadata, *ends)))
    planned.with_name(".0.crc").unlink(missing_ok=True)
    run_pipeline(spark, tmp_path / "p.yml", bootstrap)

    assert values(topics, f"{prefix}.many") == [later]


def forget(flow: Path, *, side_outputs_after: int, spark_before: int) -> None:
    """As if the process had died long after side outputs were written down, and Spark had tidied up."""
    cursor = json.loads((flow / "sides.json").read_text())
    assert cursor["batch"] >= spark_before
    (flow / "sides.json").write_text(json.dumps({**cursor, "batch": side_outputs_after}))
    for batch in range(spark_before):
        for kind in ("offsets", "commits"):
            (flow / "checkpoint" / kind / str(batch)).unlink()
            (flow / "checkpoint" / kind / f".{batch}.crc").unlink(missing_ok=True)
