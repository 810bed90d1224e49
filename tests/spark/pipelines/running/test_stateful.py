"""State for each key in Python, which needs pandas beside pyspark."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics, run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FILE = """
name: stateful
storage: state
sources:
  visits:
    options: {subscribe: T.in, startingOffsets: earliest}
    value: {schema: "user string"}
flows:
  visits:
    from: visits
    steps:
      - stateful: {processor: visits.py:Visits, by: user, schema: "user string, visits bigint", mode: update}
    outputMode: update
    sink: {options: {topic: T.out}, key: user}
"""

VISITS = """
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

class Visits(StatefulProcessor):
    def init(self, handle):
        self.count = handle.getValueState("count", "count bigint")

    def handleInputRows(self, key, rows, timerValues):
        now = (self.count.get()[0] if self.count.exists() else 0) + sum(1 for _ in rows)
        self.count.update((now,))
        yield Row(user=key[0], visits=now)

    def close(self):
        pass
"""


def test_state_in_python_is_kept_from_run_to_run(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    pytest.importorskip(
        "pandas", reason="transformWithState asks for pandas: pip install 'penstock[stateful]'"
    )
    topics, prefix = Topics(bootstrap), unique("stateful")
    topics.create(f"{prefix}.in", f"{prefix}.out")
    (tmp_path / "p.yml").write_text(FILE.replace("T.", f"{prefix}."))
    (tmp_path / "visits.py").write_text(VISITS)

    topics.put(f"{prefix}.in", [{"user": "ann"}, {"user": "bob"}, {"user": "ann"}])
    run_pipeline(spark, tmp_path / "p.yml", bootstrap)
    topics.put(f"{prefix}.in", [{"user": "ann"}])
    run_pipeline(spark, tmp_path / "p.yml", bootstrap)

    visits = [(record.key, record.json()["visits"]) for record in topics.read(f"{prefix}.out")]
    assert sorted(visits[:2]) == [("ann", 2), ("bob", 1)]
    assert visits[2:] == [("ann", 3)]
