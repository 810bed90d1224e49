"""How many offsets come to so many bytes, by what topics take on the disks of their leaders.

A micro-batch is bounded by offsets. Who thinks in bytes gets as many offsets as records of the size that they
have on average now; records that come later may be larger.
"""

from collections.abc import Mapping


def offsets_of_bytes(options: Mapping[str, str], bytes_max: int) -> int | None:
    """At least one; None if the topics of ``options`` are empty, or no broker tells how large they are."""
    from penstock.spark.options.source_options import check_reading
    from penstock.spark.reading.lookup import Lookup

    asked = check_reading(options)
    lookup = Lookup(asked)
    layouts = lookup.layouts(asked.subscription)
    extents, sizes = lookup.extents(layouts), lookup.sizes(layouts)
    known = [partition for partition in extents if sizes.get(partition)]
    stored_bytes = sum(sizes[partition] for partition in known)
    offsets = sum(extents[partition].latest - extents[partition].earliest for partition in known)
    return max(1, bytes_max * offsets // stored_bytes) if stored_bytes and offsets else None
