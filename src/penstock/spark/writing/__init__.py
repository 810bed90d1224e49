"""Writing rows to topics: the sink of ``format("penstock")``.

``batch_writer`` and ``stream_writer`` are the doors. Rows are checked (``row_schema``), placed
(``partitioner``), encoded and delivered (``record_producer``) by tasks: either plainly, at least once
(``plain_task``), or in transactions (``exact_task``) on which the driver decides (``exact_commit``,
``exact_abort``), and whose decisions are kept in the sink's ledger (``ledger_store``).
"""

from collections.abc import Mapping

from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter
from pyspark.sql.types import StructType

from penstock.spark.options.sink_options import DeliveryGuarantee, batch_sink_options, stream_sink_options
from penstock.spark.writing.exact_writers import ExactBatchWriter, ExactStreamWriter
from penstock.spark.writing.plain_writers import PlainBatchWriter, PlainStreamWriter
from penstock.spark.writing.row_schema import RowSchemaError, check_row_schema


def batch_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
    """For ``df.write``; what cannot be written is refused here, before any task runs."""
    sink = batch_sink_options(options)
    check_row_schema(schema, topic=sink.topic)
    if overwrite:
        raise RowSchemaError('A topic cannot be overwritten, only added to: say mode("append").')
    is_exact = sink.guarantee is DeliveryGuarantee.EXACTLY_ONCE
    return ExactBatchWriter(sink) if is_exact else PlainBatchWriter(sink)


def stream_writer(
    options: Mapping[str, str], schema: StructType, overwrite: bool
) -> DataSourceStreamArrowWriter:
    """For ``df.writeStream``; output mode complete adds its whole result to the topic in every batch."""
    sink = stream_sink_options(options)
    check_row_schema(schema, topic=sink.topic)
    is_exact = sink.guarantee is DeliveryGuarantee.EXACTLY_ONCE
    return ExactStreamWriter(sink) if is_exact else PlainStreamWriter(sink)
