"""Headers that tell where a record was, and that keep it from going there again."""

from typing import TYPE_CHECKING, Any

import pytest

from penstock.spark.mirror.headers import travelling

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = "offset long, headers array<struct<key: string, value: binary>>"


def test_records_go_on_with_their_story_but_never_to_where_they_were(spark: "SparkSession") -> None:
    came = [("__mirror.origin", b"A"), ("__mirror.hops", b"A,B")]
    rows: list[tuple[int, Any]] = [
        (0, None),
        (1, [("trace", None)]),
        (2, [*came, ("trace", b"1"), ("__mirror.offset", b"99")]),
        (3, [("__mirror.origin", b"D"), ("__mirror.hops", b"D")]),
        (4, [("__mirror.origin", b"A"), ("__mirror.hops", b"A,D")]),
        (5, [("__mirror.origin", b"DD"), ("__mirror.hops", b"DD")]),
    ]
    frame = spark.createDataFrame(rows, SCHEMA).coalesce(1)

    copied = travelling(frame, source_id="C", target_id="D", has_offset=True).collect()

    stories = {row.offset: [(header.key, header.value) for header in row.headers] for row in copied}
    own = [("__mirror.origin", b"C"), ("__mirror.hops", b"C")]
    assert stories == {
        0: [*own, ("__mirror.offset", b"0")],
        1: [("trace", None), *own, ("__mirror.offset", b"1")],
        2: [
            *(("trace", b"1"), ("__mirror.origin", b"A"), ("__mirror.hops", b"A,B,C")),
            ("__mirror.offset", b"2"),
        ],
        5: [
            *(("__mirror.origin", b"DD"), ("__mirror.hops", b"DD,C")),
            ("__mirror.offset", b"5"),
        ],
    }
