"""How much to ask a broker for: what is left of a range takes about so many bytes, and no more is of use.

A broker sends as much as it may. Of a small micro-batch near the beginning of a long log that would be
megabytes, of which all but a few records are thrown away.
"""

from penstock.model.ids import TopicPartition

RECORD_BYTES_GUESSED = 1024
"""Of records that nobody has seen yet."""

EDGES_BYTES = 64 * 1024
"""For the rest of the two batches that a range begins and ends within: brokers send whole ones, and what does
not fit takes another question. A first batch that is larger comes all the same."""

_SPARE = 1.25
"""Records are not all of one size."""

_PARTITIONS_MAX = 10_000

_seen: dict[TopicPartition, float] = {}
"""The size of records of a partition as they lie in its log, when it was last read by this process."""


def bytes_to_ask(partition: TopicPartition, records: int, *, at_most: int) -> int:
    """Enough for so many records, as far as one can tell."""
    wanted = int(records * _seen.get(partition, RECORD_BYTES_GUESSED) * _SPARE)
    return min(at_most, EDGES_BYTES + wanted)


def note_size(partition: TopicPartition, records: int, size: int) -> None:
    """So many records took so many bytes."""
    if len(_seen) >= _PARTITIONS_MAX:
        _seen.clear()
    _seen[partition] = size / max(1, records)
