"""What flows share, and what they must not."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics, run_pipeline

from penstock.spark.pipelines.running import runner
from penstock.spark.pipelines.running.flow_queries import start_flow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TWICE = """
name: twice
storage: state
sources:
  orders:
    options: {subscribe: ORDERS, startingOffsets: earliest}
flows:
  one:
    from: orders
    sink: {options: {topic: ORDERS.one}}
  other:
    from: orders
    sink: {options: {topic: ORDERS.other}}
"""


def test_flows_that_read_one_stream_share_no_plan(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark takes notes in plans while others that have parts of them are sent to tasks, and fails then."""
    plans: list[Any] = []

    def start(datasets: Any, *others: Any, **more: Any) -> Any:
        started = start_flow(datasets, *others, **more)
        plans.append(datasets.get("orders")._jdf.queryExecution().analyzed())
        return started

    monkeypatch.setattr(runner, "start_flow", start)
    topics, orders = Topics(bootstrap), unique("orders")
    topics.create(orders, f"{orders}.one", f"{orders}.other")
    topics.put(orders, ["a", "b", "c"])
    file = tmp_path / "twice.yml"
    file.write_text(TWICE.replace("ORDERS", orders))

    run_pipeline(spark, file, bootstrap)

    assert [len(topics.read(f"{orders}.{end}")) for end in ("one", "other")] == [3, 3]
    assert len(plans) == 2
    jvm: Any = spark._jvm
    assert len({jvm.java.lang.System.identityHashCode(plan) for plan in plans}) == 2
