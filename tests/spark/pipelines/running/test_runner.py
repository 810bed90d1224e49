"""Pipelines over real topics, checked record by record."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import UniqueName
from tests.spark.pipelines.running.pipeline_runs import Topics, run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SHOP = """
name: shop
storage: state
configuration: {spark.sql.session.timeZone: UTC}
sources:
  orders:
    options: {subscribe: ORDERS, startingOffsets: earliest, maxOffsetsPerTrigger: 8}
    value:
      schema: id int, product string, country string, amount double, ts timestamp
      deadLetterTopic: ORDERS.dlq
  products:
    options: {subscribe: PRODUCTS}
    read: table
    value: {schema: "label string", keep: key}
views:
  good:
    from: orders
    steps:
      - dead_letters: {where: amount < 0, reason: "concat('amount is ', amount)", topic: ORDERS.dlq}
  labels: SELECT CAST(key AS string) AS product, label FROM products
flows:
  routed:
    from: good
    steps:
      - dedup: {by: id, time: ts, within: 1 hour}
      - enrich: {path: countries.csv, on: country}
      - join: {with: labels, on: product, how: left}
      - select: [id, label, continent, amount]
      - route:
          topics: {ORDERS.europe: continent = 'Europe'}
          otherwise: ORDERS.world
    sink: {key: id}
  revenue:
    from: good
    steps:
      - window:
          time: ts
          size: 1 minute
          by: [product]
          aggregate: {orders: count(*), revenue: sum(amount)}
          watermark: 10 seconds
          lateTopic: ORDERS.late
    sink: {options: {topic: ORDERS.revenue}, key: product}
"""


@pytest.fixture
def topics(bootstrap: str) -> Topics:
    return Topics(bootstrap)


def order(
    number: int, second: int, *, product: str = "p1", country: str = "DE", amount: float = 1
) -> dict[str, object]:
    ts = f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"
    return {"id": number, "product": product, "country": country, "amount": amount, "ts": ts}


def test_pipeline_of_many_steps_gives_exactly_what_it_should(
    spark: "SparkSession", topics: Topics, bootstrap: str, unique: UniqueName, tmp_path: Path
) -> None:
    orders, products = unique("orders"), unique("products")
    sides = [f"{orders}.{end}" for end in ("dlq", "late", "europe", "world", "revenue")]
    topics.create(orders, products, *sides)
    (tmp_path / "countries.csv").write_text("country,continent\nDE,Europe\nFR,Europe\nBR,America\n")
    file = tmp_path / "shop.yml"
    file.write_text(SHOP.replace("ORDERS", orders).replace("PRODUCTS", products))
    topics.put_keyed(
        products, [("p1", '{"label": "old"}'), ("p2", '{"label": "pump"}'), ("p3", '{"label": "x"}')]
    )
    topics.put_keyed(products, [("p1", '{"label": "valve"}'), ("p3", None)])
    topics.put(
        orders,
        [
            *(order(number, number) for number in range(5)),
            order(3, 3),
            "no json",
            order(5, 50, product="p2", country="BR", amount=2.5),
            order(6, 200, product="p3", country="FR"),
            order(7, 5, amount=-1),
            order(8, 30),
            '{"id": "x", "amount": 1}',
            *(order(number, 200 + number) for number in range(9, 13)),
            order(13, 31, product="p2"),  # Late for the watermark, but its window is not closed yet.
            *(order(number, 220) for number in range(14, 21)),
            order(21, 32, product="p2"),  # Its window is closed.
        ],
    )

    ran = run_pipeline(spark, file, bootstrap)

    assert ran.rows("routed") == ran.rows("revenue") == 25
    assert ran.left() == {f"{orders}.dlq": 3, f"{orders}.late": 1}
    world = [record.json() for record in topics.read(f"{orders}.world")]
    assert world == [{"id": 5, "label": "pump", "continent": "America", "amount": 2.5}]
    europe = {record.key: record.json() for record in topics.read(f"{orders}.europe")}
    assert sorted(int(key or -1) for key in europe) == [0, 1, 2, 3, 4, 6, *range(8, 22)]
    assert europe["8"] == {"id": 8, "label": "valve", "continent": "Europe", "amount": 1.0}
    assert europe["6"]["label"] is None
    assert windows(topics, orders) == {("p1", "00:00"): (7, 7.0), ("p2", "00:00"): (2, 3.5)}

    dead = {letter.headers["__dlq.offset"]: letter for letter in topics.read(f"{orders}.dlq")}
    assert {offset: letter.headers["__dlq.error"] for offset, letter in dead.items()} == {
        "6": "the value is no JSON",
        "9": "amount is -1.0",
        "11": "does not fit the schema: id",
    }
    assert dead["6"].value == "no json"
    assert dead["9"].headers["__dlq.topic"] == orders
    assert dead["9"].headers["__dlq.partition"] == "0"
    (late,) = topics.read(f"{orders}.late")
    assert late.json()["id"] == 21
    assert late.headers["__dlq.offset"] == "24"
    assert late.headers["__late.window.end"] == "2026-01-01 00:01:00"

    topics.put(orders, [order(22, 400), order(0, 401), "again no json", order(23, 10)])
    again = run_pipeline(spark, file, bootstrap)

    assert again.rows("routed") == again.rows("revenue") == 4
    assert again.left() == {f"{orders}.dlq": 1, f"{orders}.late": 1}
    assert len(topics.read(f"{orders}.europe")) == len(europe) + 2
    assert windows(topics, orders) == {
        ("p1", "00:00"): (7, 7.0),
        ("p2", "00:00"): (2, 3.5),
        ("p1", "03:00"): (11, 11.0),
        ("p3", "03:00"): (1, 1.0),
    }

    forget_side_outputs(tmp_path)
    once_more = run_pipeline(spark, file, bootstrap)

    assert once_more.rows("routed") == once_more.rows("revenue") == 0
    assert once_more.left() == {f"{orders}.dlq": 1, f"{orders}.late": 1}, "they were looked at again"
    assert (len(topics.read(f"{orders}.dlq")), len(topics.read(f"{orders}.late"))) == (4, 2)


def forget_side_outputs(directory: Path) -> None:
    """As if the process had died after Spark's commits and before they were written down as dealt with."""
    for path in directory.glob("state/flows/*/sides.json"):
        cursor = json.loads(path.read_text())
        path.write_text(json.dumps({**cursor, "batch": cursor["batch"] - 2}))


def windows(topics: Topics, orders: str) -> dict[tuple[str, str], tuple[int, float]]:
    """Count and sum by product and minute; a window that was written twice is an error."""
    found: dict[tuple[str, str], tuple[int, float]] = {}
    for record in topics.read(f"{orders}.revenue"):
        row = record.json()
        key = (row["product"], row["window_start"][14:19])
        assert record.key == row["product"]
        assert key not in found
        found[key] = (row["orders"], row["revenue"])
    return found
