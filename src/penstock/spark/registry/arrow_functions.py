"""Functions on Arrow arrays as functions on Spark's columns."""

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]
from pyspark.sql.types import DataType


def on_columns(function: Callable[..., Any], type_: DataType, name: str) -> Callable[..., Column]:
    """``function`` is called with batches of the columns; ``name`` is what plans show."""
    function.__name__ = name
    wrapped: Callable[..., Column] = arrow_udf(function, type_)
    return wrapped
