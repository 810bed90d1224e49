"""Micro-batches written to a topic one by one: for output modes that Spark's Python sinks do not have.

A micro-batch that is tried again is not written again: the sink is told who writes, the query by the id in
its checkpoint, and which version it is, the number of the micro-batch. A new checkpoint is a new writer.
Through Spark Connect the id is not to be had, and a micro-batch that is tried again may be written again.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.spark.pipelines.model import PENSTOCK

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

AT_LEAST_ONCE = "at-least-once"
_QUERY_ID = "sql.streaming.queryId"
_OF_STREAMS = frozenset({"transactionalid", "checkpointlocation"})


class TopicBatches:
    """What ``foreachBatch`` calls; it travels to Spark Connect's server, so it holds nothing but texts."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = {name: text for name, text in options.items() if name.lower() not in _OF_STREAMS}

    def __call__(self, rows: "DataFrame", batch: int) -> None:
        """Write the rows of a micro-batch."""
        options = dict(self._options)
        writer = _query_id(rows)
        if writer and options.get("deliveryGuarantee") != AT_LEAST_ONCE:
            options |= {"txnAppId": writer, "txnVersion": str(batch)}
        rows.write.format(PENSTOCK).options(**options).mode("append").save()


def _query_id(rows: "DataFrame") -> str:
    from pyspark.sql.utils import is_remote

    return "" if is_remote() else str(rows.sparkSession.sparkContext.getLocalProperty(_QUERY_ID) or "")
