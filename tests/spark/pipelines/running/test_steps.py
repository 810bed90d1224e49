"""Every kind of step in one pipeline over real topics, and steps in Python."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics, run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FILE = """
name: steps
storage: state
configuration: {spark.sql.session.timeZone: UTC}
libraries: [more.py]
sources:
  orders:
    options: {subscribe: T.orders, startingOffsets: earliest}
    value: {schema: "id int, user string, amount double, ts timestamp"}
  payments:
    options: {subscribe: T.payments, startingOffsets: earliest}
    value: {schema: "id int, method string, paid timestamp"}
  lines:
    options: {subscribe: T.lines, startingOffsets: earliest}
tables:
  kept: {from: orders}
flows:
  joined:
    from: orders
    steps:
      - join: {with: payments, on: id, time: ts, otherTime: paid, within: 10 minutes}
      - select: [id, user, method]
    sink: {options: {topic: T.joined}, key: id}
  sliding:
    from: orders
    steps:
      - window: {time: ts, size: 2 minutes, slide: 1 minute, by: user, aggregate: {n: count(*)}}
    outputMode: update
    sink: {options: {topic: T.sliding}, value: {format: csv, columns: [user, window_start, n]}}
  sessions:
    from: orders
    steps:
      - window: {time: ts, gap: 1 minute, by: user, aggregate: {n: count(*), total: sum(amount)}}
    outputMode: complete
    sink: {options: {topic: T.sessions}}
  csv:
    from: lines
    steps:
      - parse:
          format: csv
          schema: a int, b string
          options: {delimiter: ";"}
          mode: DROPMALFORMED
          keep: key
      - filter: a > 1
    sink: {options: {topic: T.csv}, headers: {b: b}}
  log:
    from: lines
    steps:
      - parse: {format: regex, pattern: '(?<a>[^;]+);(?<b>\\w+)', schema: a int, mode: DROPMALFORMED}
      - sql: |
          WITH big AS (SELECT * FROM input WHERE a >= 2)
          SELECT concat(b, '!') AS value FROM big
    sink: {options: {topic: T.log}}
  closed:
    from: orders
    steps:
      - watermark: {time: ts, delay: 10 seconds}
      - sql: SELECT window.start AS start, count(*) AS n FROM input GROUP BY window(ts, '1 minute')
    sink: {options: {topic: T.closed}}
  keys:
    from: lines
    steps:
      - parse: {format: text, column: key}
    sink: {options: {topic: T.keys}}
  from_table:
    sql: SELECT user, amount FROM kept WHERE amount > 2
    sink: {options: {topic: T.from_table}, value: {format: text}}
"""

MORE = """
from penstock.spark import pipelines as dp
from pyspark.sql import functions as F

dp.create_sink("from_python", "penstock", {"topic": "T.python"}, key="user")

@dp.temporary_view
def large():
    return spark.readStream.table("orders").where(F.col("amount") > 1)

@dp.append_flow(target="from_python")
def python():
    small = dp.step(spark.readStream.table("large"), "filter", where="id < 3")
    return dp.step(small, "select", columns=["user", "id"])
"""

OUTPUTS = ("joined", "sliding", "sessions", "csv", "log", "closed", "keys", "from_table", "python")


def order(number: int, user: str, second: int, amount: float) -> dict[str, object]:
    ts = f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"
    return {"id": number, "user": user, "amount": amount, "ts": ts}


def test_steps_give_exactly_what_they_should(
    spark: "SparkSession", bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    topics, prefix = Topics(bootstrap), unique("steps")
    topics.create(*(f"{prefix}.{name}" for name in ("orders", "payments", "lines", *OUTPUTS)))
    for name, text in {"p.yml": FILE, "more.py": MORE}.items():
        (tmp_path / name).write_text(text.replace("T.", f"{prefix}."))
    topics.put(
        f"{prefix}.orders",
        [
            order(1, "ann", 5, 1.5),
            order(2, "ann", 50, 2.5),
            order(3, "bob", 70, 3.5),
            order(4, "ann", 200, 1),
        ],
    )
    topics.put(
        f"{prefix}.payments",
        [
            {"id": 2, "method": "card", "paid": "2026-01-01T00:05:00Z"},
            {"id": 3, "method": "cash", "paid": "2026-01-01T00:30:00Z"},
        ],
    )
    topics.put_keyed(f"{prefix}.lines", [("k", "1;one"), ("k", "2;two"), ("k", "x;three"), ("k", "3;four")])

    run_pipeline(spark, tmp_path / "p.yml", bootstrap)

    records = {name: topics.read(f"{prefix}.{name}") for name in OUTPUTS}
    assert [record.json() for record in records["joined"]] == [{"id": 2, "user": "ann", "method": "card"}]
    assert sorted(record.value or "" for record in records["sliding"]) == [
        "ann,2025-12-31T23:59:00.000Z,2",
        "ann,2026-01-01T00:00:00.000Z,2",
        "ann,2026-01-01T00:02:00.000Z,1",
        "ann,2026-01-01T00:03:00.000Z,1",
        "bob,2026-01-01T00:00:00.000Z,1",
        "bob,2026-01-01T00:01:00.000Z,1",
    ]
    sessions = {
        (each["user"], each["window_start"][14:19]): each
        for each in (one.json() for one in records["sessions"])
    }
    assert {key: (each["n"], each["total"]) for key, each in sessions.items()} == {
        ("ann", "00:05"): (2, 4.0),
        ("bob", "01:10"): (1, 3.5),
        ("ann", "03:20"): (1, 1.0),
    }
    assert [(each.key, each.json(), each.headers) for each in records["csv"]] == [
        ("k", {"a": 2, "b": "two"}, {"b": "two"}),
        ("k", {"a": 3, "b": "four"}, {"b": "four"}),
    ]
    assert [record.value for record in records["log"]] == ["two!", "four!"]
    closed = sorted(record.json()["start"][11:19] for record in records["closed"])
    assert closed == ["00:00:00", "00:01:00"], "the window of the newest row is open"
    assert [record.value for record in records["keys"]] == ["k"] * 4
    assert sorted(record.value or "" for record in records["from_table"]) == ["ann 2.5", "bob 3.5"]
    assert [(record.key, record.json()) for record in records["python"]] == [
        ("ann", {"user": "ann", "id": 1}),
        ("ann", {"user": "ann", "id": 2}),
    ]
