"""A source in Python that asks nobody: what Spark's conversation with Python takes by itself."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows

from penstock.spark.reading.worker_process import settle

SCHEMA = "key binary, value binary, topic string, partition int, offset long"

Document = dict[str, Any]


class StillSource(DataSource):
    """The same rows again and again, ``rowsPerBatch`` in each micro-batch."""

    @classmethod
    def name(cls) -> str:
        return "still"

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: object) -> DataSourceStreamReader:
        return _StillReader(int(self.options["rowsPerBatch"]))


class _StillReader(DataSourceStreamReader):
    def __init__(self, rows: int) -> None:
        self._rows = rows

    def initialOffset(self) -> Document:
        return {"offset": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._rows)

    def latestOffset(self, start: Document, limit: ReadLimit) -> Document:
        return {"offset": start["offset"] + self._rows}

    def partitions(self, start: Document, end: Document) -> list[InputPartition]:
        return [InputPartition(end["offset"] - start["offset"])]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        settle()
        yield _batch(partition.value)


@cache
def _batch(rows: int) -> Any:
    """Made once for each worker of Spark."""
    return pa.record_batch(
        {
            "key": [b"%016d" % number for number in range(rows)],
            "value": [b"x" * 100] * rows,
            "topic": ["still"] * rows,
            "partition": pa.array([0] * rows, pa.int32()),
            "offset": pa.array(range(rows), pa.int64()),
        }
    )
