"""Which offsets a micro-batch has been through, by what Spark wrote into its checkpoint before it began.

The records of a batch do not tell all of it: behind the last one there may be markers of transactions, and a
batch may be through offsets without finding any record. And only here are the ids of the topics.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.model.ids import TopicPartition
from penstock.spark.archive.stores.store import Store
from penstock.spark.offsets.stream_offset import StreamOffset, parse_stream_offset

_VERSION = "v1"
_HEADER_LINES = 2
"""The version of the format, and settings of the query."""

_NOTHING = "-"
"""Stands for a source of which nothing has been read yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOffsets:
    """What the checkpoint tells of a micro-batch; nothing at all if its source is none of ours."""

    starts: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Of partitions that were read before, by batches whose offsets are still known."""
    ends: Mapping[TopicPartition, int] = field(default_factory=dict)
    topic_ids: Mapping[str, str] = field(default_factory=dict)


def read_query_id(checkpoint: Store) -> str:
    """The id of the query that a checkpoint belongs to."""
    return str(json.loads(checkpoint.read("metadata"))["id"])


def read_batch_offsets(checkpoint: Store, batch_id: int) -> BatchOffsets:
    """The offsets of a batch that has begun."""
    after = _parse(checkpoint.read(f"offsets/{batch_id}").decode())
    before = _before(checkpoint, batch_id)
    same = {
        topic
        for topic, topic_id in after.topic_ids.items()
        if before.topic_ids.get(topic, topic_id) == topic_id
    }
    starts = {
        partition: offset
        for partition, offset in before.offsets.items()
        if partition.topic in same and offset <= after.offsets.get(partition, -1)
    }
    return BatchOffsets(starts=starts, ends=after.offsets, topic_ids=after.topic_ids)


def _before(checkpoint: Store, batch_id: int) -> StreamOffset:
    try:
        text = checkpoint.read(f"offsets/{batch_id - 1}").decode()
    except FileNotFoundError:
        return StreamOffset(offsets={})
    return _parse(text)


def _parse(text: str) -> StreamOffset:
    """The offsets of all sources of ours; others are passed over."""
    lines = text.splitlines()
    if lines[0] != _VERSION:
        return StreamOffset(offsets={})
    found = [parse_stream_offset(offset) for offset in map(_document, lines[_HEADER_LINES:]) if offset]
    return StreamOffset(
        offsets={partition: offset for each in found for partition, offset in each.offsets.items()},
        topic_ids={topic: topic_id for each in found for topic, topic_id in each.topic_ids.items()},
    )


def _document(line: str) -> dict[str, dict[str, int]]:
    """One line; empty if it is none of a source of topics."""
    document = None if line == _NOTHING else json.loads(line)
    if not isinstance(document, dict) or not all(isinstance(value, dict) for value in document.values()):
        return {}
    return document
