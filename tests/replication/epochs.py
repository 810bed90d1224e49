"""Epochs of a log held in memory, for machines that ask for them."""

from collections.abc import Sequence

from penstock.model.ids import NO_EPOCH, LeaderEpoch, Offset
from penstock.storage.checkpoints import EpochStart
from penstock.storage.leader_epochs import LeaderEpochs


def history(*starts: tuple[int, int]) -> LeaderEpochs:
    """The real cache of a log, with these epochs and their first offsets."""
    return LeaderEpochs([EpochStart(LeaderEpoch(epoch), Offset(offset)) for epoch, offset in starts])


class RecordEpochs:
    """What the cache must agree with: the epochs of all records, one by one, offset 0 first."""

    def __init__(self, epochs: Sequence[int]) -> None:
        self.epochs = epochs

    def epoch_at(self, offset: int) -> int:
        return self.epochs[offset] if 0 <= offset < len(self.epochs) else NO_EPOCH

    def end_of(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        if not self.epochs or epoch < 0 or epoch > self.epochs[-1]:
            return NO_EPOCH, -1
        known = [each for each in self.epochs if each <= epoch]
        return (known[-1], len(known)) if known else (epoch, 0)
