"""One Spark for all tests that are marked ``spark``: a session that starts once and ends with the run.

Sessions are not stopped by tests, nor their settings changed but for the duration of one test: the next test
has the same one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.spark.reading.clusters import close_kept_clusters
from penstock.spark.sessions.errors import JavaNotFoundError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

CONF = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": 2}


@pytest.fixture(autouse=True)
def _hang_up() -> Iterator[None]:
    """What is kept for the next task of a process would be left open at its end."""
    yield
    close_kept_clusters()


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """The session that all tests of this process share; no process of it is left behind."""
    from penstock.spark import session, shutdown

    try:
        shared = session("penstock-tests", "local[2,4]", short=True, conf=CONF, archive="existing")
    except JavaNotFoundError as error:
        pytest.skip(str(error))
    try:
        yield shared
    finally:
        shutdown()


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
