"""Files to start a pipeline from: YAML, Python, and a project of Spark's Declarative Pipelines."""

from collections.abc import Mapping

YAML_NAME = "penstock-pipeline.yml"
PYTHON_NAME = "pipeline.py"

YAML_TEMPLATE = """\
# A pipeline: what is read, what is made of it, where that goes.
#   penstock pipeline validate FILE     finds mistakes, with their lines
#   penstock pipeline run FILE          runs it, until Ctrl-C; the next run goes on where this one was
name: orders
storage: pipeline-storage             # checkpoints; relative to this file, or a URI that Spark can write to

# configuration:                      # settings of Spark
#   spark.sql.shuffle.partitions: "4" # of stateful flows; cannot be changed once there is a checkpoint
# kafka:                              # of all sources and sinks; --bootstrap-server wins
#   bootstrap.servers: 127.0.0.1:9092

trigger: {processingTime: 1 second}   # or availableNow: read what there is and end
onFailure: stop                       # or continue: let the other flows go on when one fails

sources:
  orders:
    options:
      subscribe: orders
      startingOffsets: earliest       # only for the first run; later ones go on by the checkpoint
    value:
      format: json
      schema: order_id bigint, product string, amount double, ts timestamp
      deadLetterTopic: orders.dlq     # what cannot be parsed goes there, with the reason in a header

flows:
  revenue:                            # revenue of every product and minute
    from: orders
    steps:
      - filter: amount > 0
      - window:
          time: ts
          size: 1 minute
          by: [product]
          aggregate: {orders: count(*), revenue: sum(amount)}
          watermark: 30 seconds
    outputMode: update                # a row whenever a window changes; append: one, when it is closed
    sink: {options: {topic: orders.revenue}, key: product}

  # large:                            # flows can be plain SQL
  #   sql: SELECT * FROM orders WHERE amount > 1000
  #   sink: {format: parquet, path: large-orders}
"""

PYTHON_TEMPLATE = '''\
"""A pipeline in Python. Run it with `penstock pipeline run FILE`.

The decorators are those of Spark's Declarative Pipelines: there, the import is `from pyspark import
pipelines as dp`, and what `dp.pipeline` says stands in `spark-pipeline.yml`. `spark` is there without an
import.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.spark import pipelines as dp

dp.pipeline(name="orders", storage="pipeline-storage", trigger={"processingTime": "1 second"})


@dp.temporary_view
def orders() -> DataFrame:
    """The orders of the topic, as columns."""
    records = (
        spark.readStream.format("penstock")
        .option("kafka.bootstrap.servers", "127.0.0.1:9092")
        .option("subscribe", "orders")
        .option("startingOffsets", "earliest")
        .load()
    )
    schema = "order_id bigint, product string, amount double, ts timestamp"
    return records.select(F.from_json(F.col("value").cast("string"), schema).alias("order")).select("order.*")


dp.create_sink(
    "revenue_topic",
    "penstock",
    {"kafka.bootstrap.servers": "127.0.0.1:9092", "topic": "orders.revenue"},
)


@dp.append_flow(target="revenue_topic")
def revenue() -> DataFrame:
    """Revenue of every product and minute, once the minute is over."""
    windows = (
        spark.readStream.table("orders")
        .withWatermark("ts", "30 seconds")
        .groupBy(F.window("ts", "1 minute"), "product")
        .agg(F.count("*").alias("orders"), F.sum("amount").alias("revenue"))
    )
    return windows.select(F.col("product").alias("key"), F.to_json(F.struct("*")).alias("value"))
'''

_SDP_SPEC = """\
# A project of Spark's Declarative Pipelines that reads and writes topics.
#   pip install 'penstock[spark]' 'pyspark[pipelines]'
#   spark-pipelines run --remote 'local[*]' --conf spark.sql.catalogImplementation=hive
# The persistent catalog lets a second run go on where the first one was.
name: {name}
storage: {storage}
libraries:
  - glob:
      include: transformations/**
"""

_SDP_PYTHON = '''\
"""Topics as streaming tables and sinks of Declarative Pipelines; each run reads what is new and ends."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

SERVERS = "127.0.0.1:9092"


@dp.table
def orders() -> DataFrame:
    """The records of the topic `orders`; `format("penstock")` needs no registration."""
    records = (
        spark.readStream.format("penstock")
        .option("kafka.bootstrap.servers", SERVERS)
        .option("subscribe", "orders")
        .option("startingOffsets", "earliest")
        .load()
    )
    schema = "order_id bigint, product string, amount double, ts timestamp"
    return records.select(F.from_json(F.col("value").cast("string"), schema).alias("order")).select("order.*")


@dp.materialized_view
def revenue() -> DataFrame:
    """Revenue of every product so far."""
    return spark.read.table("orders").groupBy("product").agg(F.sum("amount").alias("revenue"))


dp.create_sink("large_orders", "penstock", {"kafka.bootstrap.servers": SERVERS, "topic": "orders.large"})


@dp.append_flow(target="large_orders")
def large() -> DataFrame:
    """Orders over a thousand, back to a topic."""
    rows = spark.readStream.table("orders").where("amount > 1000")
    return rows.select(F.col("product").alias("key"), F.to_json(F.struct("*")).alias("value"))
'''


def declarative_project(name: str, storage: str) -> Mapping[str, str]:
    """The files of a project of Declarative Pipelines by their paths; its storage has to be a URI."""
    return {
        "spark-pipeline.yml": _SDP_SPEC.format(name=name, storage=storage),
        "transformations/orders.py": _SDP_PYTHON,
    }
