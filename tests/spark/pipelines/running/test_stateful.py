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


LEAVING = """
name: leaving
storage: state
sources:
  visits:
    options: {subscribe: T.in, startingOffsets: earliest}
    value: {schema: "user string, ts timestamp"}
flows:
  left:
    from: visits
    steps:
      - stateful:
          processor: leaving.py:Leaving
          by: user
          schema: user string, seconds bigint
          timers: event
          time: ts
          watermark: 10 seconds
    sink: {options: {topic: T.out}, key: user}
"""

PROCESSOR = """
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

class Leaving(StatefulProcessor):
    def init(self, handle):
        self.handle = handle
        self.last = handle.getValueState("last", "last_ms bigint")

    def handleInputRows(self, key, rows, timerValues):
        last_ms = max(int(row.ts.timestamp() * 1000) for row in rows)
        self.last.update((last_ms,))
        self.handle.registerTimer(last_ms + 60_000)
        return iter(())

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        seconds = (expiredTimerInfo.getExpiryTimeInMs() - self.last.get()[0]) // 1000
        yield Row(user=key[0], seconds=seconds)

    def close(self):
        pass
"""


def test_timers_go_off_when_the_watermark_has_passed_them(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    pytest.importorskip(
        "pandas", reason="transformWithState asks for pandas: pip install 'penstock[stateful]'"
    )
    topics, prefix = Topics(bootstrap), unique("leaving")
    topics.create(f"{prefix}.in", f"{prefix}.out")
    (tmp_path / "p.yml").write_text(LEAVING.replace("T.", f"{prefix}."))
    (tmp_path / "leaving.py").write_text(PROCESSOR)
    visits = {"ann": "2026-01-01T00:00:00Z", "bob": "2026-01-01T00:01:00Z", "eve": "2026-01-01T00:02:00Z"}

    topics.put(f"{prefix}.in", [{"user": user, "ts": ts} for user, ts in visits.items()])
    run_pipeline(spark, tmp_path / "p.yml", bootstrap)

    left = [(record.key, record.json()["seconds"]) for record in topics.read(f"{prefix}.out")]
    assert left == [("ann", 60)], "the watermark is at 00:01:50"
