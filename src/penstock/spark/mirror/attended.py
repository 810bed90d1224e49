"""A mirror that looks after itself: a thread keeps topics and groups in step for as long as its query runs.

It is for callers that only watch a query. The thread ends with the query, after one last look, and is no
daemon: a program that ends waits for that look.
"""

import logging
import threading
from typing import TYPE_CHECKING

from penstock.spark.mirror.errors import PASSING_ERRORS
from penstock.spark.mirror.mirroring import Mirror, MirrorPlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.25


def start_attended(
    spark: "SparkSession",
    plan: MirrorPlan,
    *,
    storage: str,
    query_name: str,
    available_now: bool,
    interval: str,
    every_seconds: float,
) -> "StreamingQuery":
    """Start mirroring; topics are in step when this returns."""
    mirror = Mirror.connect(plan)
    try:
        mirror.keep_topics()
        query = mirror.start(
            spark, storage=storage, available_now=available_now, interval=interval, query_name=query_name
        )
    except BaseException:
        mirror.__exit__(None, None, None)
        raise
    attend = threading.Thread(
        target=_attend, args=(mirror, query, every_seconds), name=f"attend {query_name}", daemon=False
    )
    attend.start()
    return query


def _attend(mirror: Mirror, query: "StreamingQuery", every_seconds: float) -> None:
    pause = threading.Event()
    with mirror:
        waited = 0.0
        while query.isActive:
            pause.wait(POLL_SECONDS)
            waited += POLL_SECONDS
            if waited >= every_seconds:
                _keep_up(mirror)
                waited = 0.0
        _keep_up(mirror)


def _keep_up(mirror: Mirror) -> None:
    """A cluster that does not answer now may do so the next time; if not, the query ends of it."""
    try:
        mirror.keep_up()
    except PASSING_ERRORS as error:
        logger.warning("topics and groups could not be brought in step: %s", error)
