"""One bad value does not spoil a column."""

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.registry.isolation import build_column


@given(st.lists(st.none() | st.integers(0, 9) | st.text(max_size=1), max_size=20))
def test_values_that_are_refused_are_null_and_have_a_reason(values: list[Any]) -> None:
    built: list[int] = []

    def build(part: list[Any]) -> Any:
        built.append(len(part))
        return pa.array(part, pa.int8())

    decoded = build_column(values, build, {})
    bad = [row for row, value in enumerate(values) if isinstance(value, str)]
    assert sorted(decoded.reasons) == bad
    assert decoded.values.to_pylist() == [None if isinstance(value, str) else value for value in values]
    assert bad or len(built) == 1
