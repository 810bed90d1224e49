"""Where a record comes from, in its headers; and by them, where it need not go.

``__mirror.origin`` is the id of the cluster where it was produced, ``__mirror.hops`` the ids of all clusters
that it has left, in their order and with commas between them. A record is not copied to a cluster that it
has left: two clusters may mirror each other, and any number of them in a ring.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ORIGIN = "__mirror.origin"
HOPS = "__mirror.hops"
OFFSET = "__mirror.offset"
"""The offset that the record had at the cluster it was copied from; only if asked for."""

_OWN = (ORIGIN, HOPS, OFFSET)
_BETWEEN = ","


def travelling(rows: "DataFrame", *, source_id: str, target_id: str, has_offset: bool) -> "DataFrame":
    """The records that have not been at the target, with headers that tell of this copy."""
    kept = rows.where(~_has_left(target_id))
    return kept.withColumn("headers", _stamped(source_id, has_offset=has_offset))


def _has_left(cluster_id: str) -> "Column":
    from pyspark.sql import functions as F

    hops = F.split(F.coalesce(_text(HOPS), F.lit("")), _BETWEEN)
    return F.array_contains(hops, cluster_id) | F.coalesce(_text(ORIGIN) == cluster_id, F.lit(False))


def _stamped(source_id: str, *, has_offset: bool) -> "Column":
    from pyspark.sql import functions as F

    others = F.filter("headers", lambda header: ~header["key"].isin(*_OWN))
    own = [
        _header(ORIGIN, F.coalesce(_text(ORIGIN), F.lit(source_id))),
        _header(HOPS, F.concat_ws(_BETWEEN, _text(HOPS), F.lit(source_id))),
    ]
    if has_offset:
        own.append(_header(OFFSET, F.col("offset").cast("string")))
    return F.when(F.col("headers").isNull(), F.array(*own)).otherwise(F.concat(others, F.array(*own)))


def _header(key: str, text: "Column") -> "Column":
    from pyspark.sql import functions as F

    return F.struct(F.lit(key).alias("key"), text.cast("binary").alias("value"))


def _text(key: str) -> "Column":
    """The value of a header; null if there is none."""
    from pyspark.sql import functions as F

    named = F.filter("headers", lambda header: header["key"] == key)
    return F.try_element_at(named, F.lit(-1))["value"].cast("string")
