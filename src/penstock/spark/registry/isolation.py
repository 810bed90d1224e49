"""One bad value must not spoil a column: values that Arrow refuses are found by halving, and get a reason."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from penstock.spark.registry.payloads import Decoded


def build_column(values: list[Any], build: Callable[[list[Any]], Any], reasons: dict[int, str]) -> Decoded:
    """The column that ``build`` makes of values, with null and a reason for each value that it refuses.

    ``build`` works on any part of the values, and takes None. A column without a refused value is built once;
    each refused value costs as many rebuilds of parts as halving takes.
    """
    parts: list[Any] = []
    reasons = dict(reasons)
    pending = [(0, len(values))]
    while pending:
        first, end = pending.pop()
        try:
            parts.append(build(values[first:end]))
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            if end - first <= 1:
                reasons[first] = str(error)
                parts.append(build([None] * (end - first)))
                continue
            middle = (first + end) // 2
            pending += [(middle, end), (first, middle)]
    return Decoded(values=parts[0] if len(parts) == 1 else pa.concat_arrays(parts), reasons=reasons)
