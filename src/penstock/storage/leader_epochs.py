"""Which leader wrote which part of a log: each leader epoch with the first offset it wrote.

Followers find by it where their log and the leader's part ways (KIP-101, KIP-279). Epochs and start offsets
both ascend. The file ``leader-epoch-checkpoint`` is derived: every batch carries its epoch. It may lack the
newest epochs, which a start notices by the log's last batch. It must not name one that was cut off, because
the same epoch may come again at another offset: so whoever cuts a log removes a file that became wrong.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from penstock.model.ids import NO_EPOCH, NO_OFFSET, LeaderEpoch, Offset
from penstock.storage.checkpoints import EpochStart


class EpochEnd(NamedTuple):
    """The largest epoch not above the one asked for, and the offset behind its last record; -1 for none."""

    epoch: int
    end_offset: int


UNKNOWN_END = EpochEnd(NO_EPOCH, NO_OFFSET)


class LeaderEpochs:
    """The epochs of one log, oldest first."""

    __slots__ = ("_in_file", "_starts", "is_dirty", "latest_epoch")

    def __init__(
        self, starts: list[EpochStart] | None = None, *, in_file: Iterable[EpochStart] | None = None
    ) -> None:
        self._starts: list[EpochStart] = []
        #: Of the newest batch; NO_EPOCH in an empty log.
        self.latest_epoch: int = NO_EPOCH
        for start in starts or []:
            self.assign(start.epoch, start.start_offset)
        #: Whether the file lacks something.
        self.is_dirty = False
        # What the file may hold; more than one content while a write is under way.
        self._in_file = set(self._starts if in_file is None else in_file)

    @property
    def starts(self) -> tuple[EpochStart, ...]:
        """All epochs with their first offsets."""
        return tuple(self._starts)

    @property
    def file_is_wrong(self) -> bool:
        """Whether the file may name an epoch where it did not begin, or no longer does."""
        known = {start.epoch: start.start_offset for start in self._starts}
        # A start that moved forward with the log's start is no lie.
        return any(known.get(epoch, -1) < start_offset for epoch, start_offset in self._in_file)

    def capture(self) -> tuple[EpochStart, ...]:
        """All epochs, for a job to write."""
        self._in_file.update(self._starts)
        return self.starts

    def settle(self, written: tuple[EpochStart, ...]) -> None:
        """The job succeeded."""
        self._in_file = set(written)
        if written == self.starts:
            self.is_dirty = False

    def file_was_removed(self) -> None:
        """There is no file any more, until the next is written."""
        self._in_file = set()
        self.is_dirty = True

    def assign(self, epoch: int, start_offset: int) -> None:
        """A batch of ``epoch`` begins at ``start_offset``; does nothing within an epoch.

        Entries that contradict it are dropped: a newer batch knows better.
        """
        if epoch < 0 or epoch == self.latest_epoch:
            return
        starts = self._starts
        while starts and (starts[-1].epoch >= epoch or starts[-1].start_offset >= start_offset):
            starts.pop()
        if not starts or starts[-1].epoch != epoch:
            starts.append(EpochStart(LeaderEpoch(epoch), Offset(start_offset)))
        self._changed()

    def epoch_at(self, offset: int) -> int:
        """The epoch that wrote ``offset``."""
        number = bisect_right(self._starts, offset, key=lambda start: start.start_offset)
        return self._starts[number - 1].epoch if number else NO_EPOCH

    def end_of(self, epoch: int, log_end_offset: int) -> EpochEnd:
        """How far ``epoch``, or the largest known one below it, goes.

        An epoch before the first known one ends where that begins, so that a follower which lags behind
        the log's start learns where to go on.
        """
        if epoch < 0 or not self._starts or epoch > self._starts[-1].epoch:
            return UNKNOWN_END
        if epoch == self._starts[-1].epoch:
            return EpochEnd(epoch, log_end_offset)
        number = bisect_right(self._starts, epoch, key=lambda start: start.epoch)
        if number == 0:
            return EpochEnd(epoch, self._starts[0].start_offset)
        return EpochEnd(self._starts[number - 1].epoch, self._starts[number].start_offset)

    def truncate_end(self, offset: int) -> None:
        """Forget epochs that began at or behind ``offset``."""
        if self._starts and self._starts[-1].start_offset >= offset:
            self._starts = [start for start in self._starts if start.start_offset < offset]
            self._changed()

    def truncate_start(self, offset: int) -> None:
        """Forget what lies before ``offset``; the epoch that wrote it then begins there."""
        number = bisect_right(self._starts, offset, key=lambda start: start.start_offset)
        if number and self._starts[number - 1].start_offset != offset:
            first = EpochStart(self._starts[number - 1].epoch, Offset(offset))
            self._starts[:number] = [first]
            self._changed()
        elif number > 1:
            del self._starts[: number - 1]
            self._changed()

    def _changed(self) -> None:
        self.latest_epoch = self._starts[-1].epoch if self._starts else NO_EPOCH
        self.is_dirty = True
