"""A streaming query in a process of its own, to be killed: copies Parquet files to a topic, exactly once.

Arguments: brokers, topic, directory of the files, checkpoint. Prints the number of each batch that is done.
"""

import sys
import time

from pyspark.sql import SparkSession
from tests.spark.writing.query import copy_files


def main() -> None:
    bootstrap, topic, files, checkpoint = sys.argv[1:]
    conf: dict[str, bool | float | int | str | None] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    }
    session = SparkSession.builder.master("local[2,4]").config(map=conf).getOrCreate()
    query = copy_files(session, bootstrap, topic, files, checkpoint).trigger(availableNow=True).start()
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
