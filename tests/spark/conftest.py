"""One Spark for all tests that are marked ``spark``: a session that starts once and ends with the run."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_CONF: dict[str, bool | float | int | str | None] = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """The session that all tests of this process share."""
    if shutil.which("java") is None:
        pytest.skip("there is no Java, which Spark needs: apt-get install openjdk-17-jre-headless")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local[2,4]").appName("penstock-tests")
    session = builder.config(map=_CONF).getOrCreate()
    try:
        yield session
    finally:
        session.stop()


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """Where one streaming query keeps its progress; a second start of it goes on from there."""
    return str(tmp_path / "checkpoint")


def run_to_end(writer: "DataStreamWriter", *, timeout_seconds: int = 60) -> "StreamingQuery":
    """Start a streaming query over what is there now, wait for its end, and raise what it failed with."""
    query = writer.trigger(availableNow=True).start()
    try:
        assert query.awaitTermination(timeout_seconds), f"the query still runs after {timeout_seconds} s"
    finally:
        query.stop()
    return query
