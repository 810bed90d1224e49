"""What is sent, and where it went."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Headers = Mapping[str, "bytes | str | None"] | Sequence[tuple[str, "bytes | str | None"]]
"""Names and values; a sequence may have a name twice."""


class Record(NamedTuple):
    """One record for ``send_batch``; a plain tuple of its first fields does as well."""

    topic: str
    value: Any = None
    key: Any = None
    headers: Headers | None = None
    partition: int | None = None
    timestamp_ms: int | None = None


class RecordMetadata(NamedTuple):
    """Where a record is.

    The offset is -1 if nobody was asked to acknowledge it; rarely too if the answer was lost, and a later one
    of the same partition says that the record is stored.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
