"""Orders in, revenue per window and product out, exactly once: a program that is killed again and again.

    python revenue.py BOOTSTRAP_SERVERS ORDERS REVENUE CHECKPOINT ORDERS_PER_BATCH

It says ``batch N`` when micro-batch N is committed, and goes on until it is told to end.
"""

import sys

from penstock.spark import session

WINDOW = "10 seconds"
WATERMARK = "30 seconds"
SECONDS_MAX = 600

ORDERS = f"""
    SELECT from_json(CAST(value AS STRING), 'product STRING, amount BIGINT') AS placed, timestamp
    FROM orders WATERMARK timestamp DELAY OF INTERVAL {WATERMARK}
"""
REVENUE = f"""
    SELECT window(timestamp, '{WINDOW}') AS w, placed.product, count(*) AS n, sum(placed.amount) AS s
    FROM placed GROUP BY 1, 2
"""
RESULT = """
    SELECT product AS key, to_json(struct(unix_millis(w.start) AS start, product, n, s)) AS value FROM revenue
"""


def main(servers: str, orders: str, revenue: str, checkpoint: str, orders_per_batch: str) -> None:
    """One query, from topic to topic."""
    spark = session("revenue", "local[2,4]", short=True, archive="existing")
    where = {"kafka.bootstrap.servers": servers}
    stream = spark.readStream.format("penstock").options(
        **where, subscribe=orders, startingOffsets="earliest", maxOffsetsPerTrigger=orders_per_batch
    )
    stream.load().createOrReplaceTempView("orders")
    spark.sql(ORDERS).createOrReplaceTempView("placed")
    spark.sql(REVENUE).createOrReplaceTempView("revenue")
    writer = spark.sql(RESULT).writeStream.format("penstock").options(**where, topic=revenue)
    query = writer.outputMode("append").option("checkpointLocation", checkpoint).start()
    told = -1
    for _ in range(SECONDS_MAX):
        if query.awaitTermination(1):
            sys.exit(f"the query has ended: {query.exception()}")
        progress = query.lastProgress
        if progress is not None and progress.batchId > told:
            told = progress.batchId
            print("batch", told, progress.numInputRows, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
