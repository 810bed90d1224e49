"""Arrow batches gathered into rounds, since partitions share them: larger rounds make larger batches."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

ROUND_BYTES = 8 * 1024 * 1024
"""Enough for batches of the usual limit on eight partitions; more costs memory and gains little."""

_JOINED_BYTES_MAX = 1024 * 1024 * 1024
"""Arrow's offsets end at 2 GiB: a batch that is large by itself stays so."""


def rounds(batches: Iterable[Any], *, size_bytes: int = ROUND_BYTES) -> Iterator[Any]:
    """The same rows in fewer batches, none of them empty."""
    gathered: list[Any] = []
    gathered_bytes = 0
    for batch in batches:
        if gathered and gathered_bytes + batch.nbytes > _JOINED_BYTES_MAX:
            yield _joined(gathered)
            gathered, gathered_bytes = [], 0
        if batch.num_rows:
            gathered.append(batch)
            gathered_bytes += batch.nbytes
        if gathered_bytes >= size_bytes:
            yield _joined(gathered)
            gathered, gathered_bytes = [], 0
    if gathered:
        yield _joined(gathered)


def _joined(batches: list[Any]) -> Any:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
