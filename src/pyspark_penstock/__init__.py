"""What Spark looks for by this module's name: ``format("penstock")`` works without any registration.

Spark asks every top-level module called ``pyspark_...`` for a ``DefaultSource`` when it first meets a format
that it does not know. Everything else is in ``penstock.spark``.
"""

from penstock.spark.data_source import PenstockDataSource as DefaultSource

__all__ = ["DefaultSource"]
