"""A streaming query in a process of its own, to be killed: copies Parquet files to a topic, exactly once.

Arguments: brokers, topic, directory of the files, checkpoint. Prints the number of each batch that is done.
"""

import sys
import time

from tests.spark.writing.query import copy_files

from penstock.spark import session


def main() -> None:
    bootstrap, topic, files, checkpoint = sys.argv[1:]
    conf = {"spark.driver.memory": "512m", "spark.sql.shuffle.partitions": 2}
    spark = session("penstock-killed", "local[2,4]", short=True, conf=conf, archive="existing")
    query = copy_files(spark, bootstrap, topic, files, checkpoint).trigger(availableNow=True).start()
    done = -1
    while query.isActive:
        progress = query.lastProgress
        if progress is not None and progress["batchId"] > done:
            done = progress["batchId"]
            print(f"batch {done}", flush=True)
        time.sleep(0.01)
    print("end", flush=True)


if __name__ == "__main__":
    main()
