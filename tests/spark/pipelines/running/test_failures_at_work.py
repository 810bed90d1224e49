"""What is told of flows that cannot run, and what becomes of the others."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics, run_pipeline

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.running.analysis import analyse
from penstock.spark.pipelines.running.events import FlowFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FILE = """
name: failing
storage: state
onFailure: continue
sources:
  orders: {options: {subscribe: T.in, startingOffsets: earliest}}
flows:
  misspelt:
    from: orders
    steps:
      - filter: value IS NOT NULL
      - filter: amont > 1
    sink: {options: {topic: T.out}}
  poisoned:
    from: orders
    steps:
      - parse: {schema: a int, mode: FAILFAST}
    sink: {options: {topic: T.out}}
  keyless:
    from: orders
    sink: {options: {topic: T.out}, key: '*'}
  fine:
    from: orders
    sink: {options: {topic: T.out}}
"""


def test_flow_that_fails_names_its_step_and_the_others_go_on(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    topics, prefix = Topics(bootstrap), unique("failing")
    topics.create(f"{prefix}.in", f"{prefix}.out")
    topics.put(f"{prefix}.in", ['{"a": 1}', "poison"])
    file = tmp_path / "p.yml"
    file.write_text(FILE.replace("T.", f"{prefix}."))

    ran = run_pipeline(spark, file, bootstrap, must_succeed=False)

    misspelt, keyless, poisoned = ran.outcome.failures
    assert (misspelt.flow, misspelt.step) == ("misspelt", "2 (filter)")
    assert "`amont`" in misspelt.cause
    assert "UNRESOLVED_COLUMN" in misspelt.cause
    assert misspelt.hint == "Check the name against the columns of the step before it."
    assert (poisoned.flow, poisoned.step) == ("poisoned", "1 (parse)")
    assert "MALFORMED_RECORD_IN_PARSING" in poisoned.cause
    assert "deadLetterTopic" in poisoned.hint
    assert keyless.flow == "keyless"
    told = [event.failure for event in ran.events if isinstance(event, FlowFailed)]
    assert told == [misspelt, keyless, poisoned]
    assert [record.value for record in topics.read(f"{prefix}.out")] == ['{"a": 1}', "poison"]


ANALYSED = """
name: analysed
storage: state
sources:
  orders:
    options: {subscribe: orders}
    value: {schema: "id int, ts timestamp"}
views:
  doubled: SELECT id * 2 AS id, ts FROM orders
flows:
  right:
    from: doubled
    sink: {options: {topic: t}}
  no_column:
    from: doubled
    steps:
      - select: [id, nmae]
    sink: {options: {topic: t}}
  no_watermark:
    sql: SELECT id, count(*) AS n FROM orders GROUP BY id
    sink: {options: {topic: t}}
  no_topic:
    from: orders
    sink: {key: id}
"""


def test_analysis_finds_what_only_spark_can_find_without_a_broker(
    spark: "SparkSession", tmp_path: Path
) -> None:
    file = tmp_path / "p.yml"
    file.write_text(ANALYSED)

    analysed, problems = analyse(spark, load_pipeline(file))

    assert {flow.flow: flow.columns for flow in analysed} == {"right": "id:int,ts:timestamp"}
    told = {(problem.place.line, problem.message.partition(":")[0]): problem for problem in problems}
    assert [*told] == [
        (17, "Flow 'no_column', step 1 (select)"),
        (20, "Flow 'no_watermark'"),
        (23, "Flow 'no_topic'"),
    ]
    assert "nmae" in problems[0].message
    assert "watermark" in problems[1].message
    assert problems[1].hint == "Add a watermark before the aggregate, or set `outputMode: update`."
    assert "which topic to write to" in problems[2].message
