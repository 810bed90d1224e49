"""What Spark looks for by this module's name: ``format("penstock-segments")`` works without registration.

Spark takes one ``DefaultSource`` of each top-level module called ``pyspark_...``, so a second data source
needs a second module. Everything else is in ``penstock.spark.segments``.
"""

from penstock.spark.segments.data_source import SegmentsDataSource as DefaultSource

__all__ = ["DefaultSource"]
