"""Kafka's text checkpoints: small tables of offsets that save work at the next start.

All of them are derived: what they say can be found again in the logs, only slower. So they are written
atomically but read with suspicion, and one that is missing or damaged in any way reads as None: a caller then
takes the answer that is always safe (recover from the beginning).

Format, version 0, UTF-8: a line with the version, a line with the number of entries, one line per entry.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple, TypeVar

from penstock.model.errors import ApiError
from penstock.model.ids import LeaderEpoch, Offset, TopicPartition
from penstock.model.limits import CHECKPOINT_BYTES_MAX
from penstock.model.names import check_topic_name
from penstock.storage.atomic_file import replace_file, write_atomically
from penstock.storage.filesystem import FileSystem

RECOVERY_POINT_CHECKPOINT = "recovery-point-offset-checkpoint"
LOG_START_CHECKPOINT = "log-start-offset-checkpoint"
HIGH_WATERMARK_CHECKPOINT = "replication-offset-checkpoint"
CLEANED_OFFSET_CHECKPOINT = "cleaner-offset-checkpoint"
LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"

_VERSION = "0"
_Entry = TypeVar("_Entry")


class EpochStart(NamedTuple):
    """Where a leader's epoch begins in one log."""

    epoch: LeaderEpoch
    start_offset: Offset


def write_offset_checkpoint(fs: FileSystem, path: str, offsets: Mapping[TopicPartition, Offset]) -> None:
    """Replace a table of ``topic partition offset``, durably."""
    write_atomically(fs, path, _offset_table(offsets))


def replace_offset_checkpoint(fs: FileSystem, path: str, offsets: Mapping[TopicPartition, Offset]) -> None:
    """The same without the directory's sync, for a caller who replaces several and syncs once."""
    replace_file(fs, path, _offset_table(offsets))


def read_offset_checkpoint(fs: FileSystem, path: str) -> dict[TopicPartition, Offset] | None:
    """The table, or None when there is none that can be believed."""
    entries = _read(fs, path, _parse_offset)
    if entries is None or len(dict(entries)) != len(entries):
        return None
    return dict(entries)


def write_leader_epoch_checkpoint(fs: FileSystem, path: str, epochs: Iterable[EpochStart]) -> None:
    """Replace a table of ``epoch startOffset``, durably."""
    write_atomically(fs, path, _table([f"{epoch} {start_offset}" for epoch, start_offset in epochs]))


def read_leader_epoch_checkpoint(fs: FileSystem, path: str) -> list[EpochStart] | None:
    """The table, or None when there is none that can be believed: both columns must grow."""
    entries = _read(fs, path, _parse_epoch)
    if entries is None:
        return None
    for earlier, later in pairwise(entries):
        if later.epoch <= earlier.epoch or later.start_offset < earlier.start_offset:
            return None
    return entries


def _offset_table(offsets: Mapping[TopicPartition, Offset]) -> bytes:
    return _table([f"{topic} {partition} {offset}" for (topic, partition), offset in sorted(offsets.items())])


def _table(lines: list[str]) -> bytes:
    return "\n".join([_VERSION, str(len(lines)), *lines, ""]).encode()


def _read(fs: FileSystem, path: str, parse: Callable[[str], _Entry]) -> list[_Entry] | None:
    if not fs.exists(path) or fs.size(path) > CHECKPOINT_BYTES_MAX:
        return None
    try:
        version, count, *lines = fs.read_file(path).decode("ascii").removesuffix("\n").split("\n")
        if version != _VERSION or _number(count) != len(lines):
            return None
        return [parse(line) for line in lines]
    except (ValueError, ApiError):
        return None


def _parse_offset(line: str) -> tuple[TopicPartition, Offset]:
    topic, partition, offset = line.split(" ")
    check_topic_name(topic)
    return TopicPartition(topic, _number(partition)), Offset(_number(offset))


def _parse_epoch(line: str) -> EpochStart:
    epoch, start_offset = line.split(" ")
    return EpochStart(LeaderEpoch(_number(epoch)), Offset(_number(start_offset)))


def _number(text: str) -> int:
    """A number as we write it: digits only, so that what is damaged does not pass as a number."""
    if not text.isdigit() or len(text) > 19:
        raise ValueError(f"{text!r} is no offset")
    return int(text)
