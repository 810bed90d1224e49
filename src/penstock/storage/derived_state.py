"""Leader epochs and producers of a log as they were at one of its borders, from their files and the log.

Both files are derived: a missing, damaged or outdated one only means that more of the log is read.
"""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from penstock.model.errors import CorruptLogError
from penstock.model.ids import NO_EPOCH
from penstock.storage.batch_scan import Located
from penstock.storage.checkpoints import (
    LEADER_EPOCH_CHECKPOINT,
    EpochStart,
    read_leader_epoch_checkpoint,
    write_leader_epoch_checkpoint,
)
from penstock.storage.filesystem import FileSystem, join_path
from penstock.storage.leader_epochs import LeaderEpochs
from penstock.storage.producer_snapshot import decode_snapshot, snapshot_path
from penstock.storage.producer_state import ProducerStates
from penstock.storage.replay import read_batch, replay_producer, replay_segment
from penstock.storage.segment import Segment
from penstock.storage.segment_end import find_end
from penstock.storage.segment_lookup import header_at
from penstock.storage.transaction_index import AbortedTransaction


class LogBorder(NamedTuple):
    """A border between batches of a log: the segments up to it, the last one up to ``position``."""

    segments: list[Segment]
    position: int
    offset: int
    last: Located | None = None
    """The batch before the border, where it is known."""


def load_producers(
    filesystem: FileSystem, directory: str, snapshot_offsets: set[int], border: LogBorder
) -> ProducerStates:
    """The producers at ``border``: the newest snapshot before it, and the batches between the two."""
    for offset in sorted(snapshot_offsets, reverse=True):
        if offset <= border.offset:
            producers = ProducerStates()
            if decode_snapshot(filesystem.read_file(snapshot_path(directory, offset)), producers):
                _replay(producers, border, offset)
                return producers
    producers = ProducerStates()
    _replay(producers, border, border.segments[0].base_offset)
    return producers


def load_leader_epochs(
    filesystem: FileSystem, directory: str, border: LogBorder, log_start_offset: int
) -> LeaderEpochs:
    """The epochs before ``border``: from the checkpoint if it fits the log's two ends, else from all of it.

    It may know less than the log has, and also of a later start than was made durable.
    """
    path = join_path(directory, LEADER_EPOCH_CHECKPOINT)
    in_file = read_leader_epoch_checkpoint(filesystem, path) or []
    epochs = LeaderEpochs(in_file)
    epochs.truncate_end(border.offset)
    latest_epoch = _latest_epoch(border)
    if latest_epoch == NO_EPOCH:
        return epochs
    begins_late = epochs.epoch_at(log_start_offset) == NO_EPOCH and log_start_offset < border.offset
    if begins_late or epochs.latest_epoch != latest_epoch:
        epochs = LeaderEpochs(in_file=in_file)
        _read_epochs(epochs, border)
    return epochs


def write_leader_epochs(filesystem: FileSystem, directory: str, starts: Iterable[EpochStart]) -> None:
    """Replace the checkpoint, durably."""
    write_leader_epoch_checkpoint(filesystem, join_path(directory, LEADER_EPOCH_CHECKPOINT), starts)


def remove_leader_epochs(filesystem: FileSystem, directory: str) -> None:
    """Remove a checkpoint that became wrong, which works on a full disk too; the caller syncs the names."""
    path = join_path(directory, LEADER_EPOCH_CHECKPOINT)
    if filesystem.exists(path):
        filesystem.unlink(path)


def _replay(producers: ProducerStates, border: LogBorder, from_offset: int) -> None:
    if from_offset == border.offset:
        return
    for number, segment in enumerate(border.segments):
        is_last = number == len(border.segments) - 1
        end_position = border.position if is_last else segment.readable_size
        if not is_last and border.segments[number + 1].base_offset <= from_offset:
            continue
        start = find_end(segment, max(from_offset, segment.base_offset))
        try:
            replay_segment(segment, producers, start, end_position)
        except CorruptLogError:
            # The damage is reported by whoever reads it; producers behind it in this segment are forgotten.
            continue


def _latest_epoch(border: LogBorder) -> int:
    """The epoch of the last batch before the border; NO_EPOCH when there is none to be seen."""
    if border.last is not None:
        return border.last.header.leader_epoch
    if border.position > 0:
        return find_end(border.segments[-1], border.offset).latest_epoch
    if len(border.segments) > 1:
        return find_end(border.segments[-2], border.offset).latest_epoch
    return NO_EPOCH


def _read_epochs(epochs: LeaderEpochs, border: LogBorder) -> None:
    """Read the epochs from the batches, looking inside a segment only if its epoch changes there."""
    latest_epoch = _latest_epoch(border)
    ends = [segment.readable_size for segment in border.segments[:-1]] + [border.position]
    for number, (segment, end) in enumerate(zip(border.segments, ends, strict=True)):
        if end == 0:
            continue
        try:
            following = border.segments[number + 1 : number + 2]
            next_epoch = _first_epoch(following[0]) if following and ends[number + 1] else latest_epoch
            if _first_epoch(segment) == next_epoch:
                epochs.assign(next_epoch, segment.base_offset)
                continue
            for _, header in segment.walk(end=end):
                epochs.assign(header.leader_epoch, header.base_offset)
        except CorruptLogError:
            # What lies behind the damage in this segment cannot be read at all.
            continue


def _first_epoch(segment: Segment) -> int:
    return header_at(segment, 0).leader_epoch


def read_aborted(
    filesystem: FileSystem, directory: str, snapshot_offsets: set[int], segments: list[Segment]
) -> list[AbortedTransaction]:
    """The aborted transactions of the last of ``segments``, read from the log because its index is lost."""
    segment = segments[-1]
    border = LogBorder(segments, 0, segment.base_offset)
    producers = load_producers(filesystem, directory, snapshot_offsets, border)
    found = (
        replay_producer(producers, located.header, partial(read_batch, segment, located))
        for located in segment.walk()
    )
    return [aborted for aborted in found if aborted is not None]
