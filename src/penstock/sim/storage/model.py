"""What was promised: the book a run keeps beside the real logs, in the simplest form that can be right.

A log is a list of batches in the order of their offsets. ``acknowledged_end`` is how far it was promised to
be kept; behind it batches may survive an outage or not, but only as a first part of the list and only with
the bytes that were appended. Deleting records moves ``log_start`` and takes nothing out of the list, so
that what a restart brings back can still be recognised.
"""

from collections import deque
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from penstock.records.batch import SEQUENCE_MAX, BatchHeader


class Entry(NamedTuple):
    """A batch as it was appended, stamped."""

    header: BatchHeader
    data: bytes

    @property
    def base_offset(self) -> int:
        """Its first offset."""
        return self.header.base_offset

    @property
    def next_offset(self) -> int:
        """The offset behind it."""
        return self.header.next_offset


class Sent(NamedTuple):
    """A batch that a producer holds until it is acknowledged; unstamped, to be sent again as it is."""

    header: BatchHeader
    data: bytes


@dataclass(slots=True)
class SequencedProducer:
    """An idempotent producer's side for one partition."""

    producer_id: int
    next_sequence: int = 0
    unacknowledged: deque[Sent] = field(default_factory=deque)

    def send(self, sent: Sent) -> None:
        """Hold on to a batch."""
        self.unacknowledged.append(sent)
        self.next_sequence = (sent.header.last_sequence + 1) & SEQUENCE_MAX


class Damaged(NamedTuple):
    """A bit that was turned over in an acknowledged batch."""

    offset: int
    path: str
    position: int


class Pass(NamedTuple):
    """A compaction that was begun; how far it came, nobody knows."""

    end_offset: int
    """It could touch nothing at or behind this."""
    now: int


@dataclass(slots=True)
class PartitionModel:
    """The promises about one log."""

    number: int
    entries: list[Entry] = field(default_factory=list)
    #: Where an empty log ends: 0, or where it began anew.
    begin: int = 0
    #: Everything below was acknowledged; never above the end of ``entries``.
    acknowledged_end: int = 0
    #: The highest start anybody asked for. A restart may find a lower one, never below ``kept_log_start``.
    log_start: int = 0
    kept_log_start: int = 0
    #: Everything below was written down as durable, durably: a bad batch there can be no torn tail.
    sealed_end: int = 0
    #: The end of this process's last flush; the seal says so too once it is written.
    flushed_end: int = 0
    #: Whether a start since the last look was interrupted; what it had to say, nobody heard.
    start_was_interrupted: bool = False
    leader_epoch: int = 0
    #: Whether a cut was begun, of which nobody knows how far it came.
    is_being_cut: bool = False
    #: Where the log begins anew, if that was begun; nobody knows whether it came to that.
    restarts_at: int | None = None
    damages: list[Damaged] = field(default_factory=list)
    producers: dict[int, SequencedProducer] = field(default_factory=dict)
    passes: list[Pass] = field(default_factory=list)
    delete_retention_ms: int = 0

    @property
    def end(self) -> int:
        """The offset behind the last batch."""
        return self.entries[-1].next_offset if self.entries else self.begin

    @property
    def first_damage(self) -> int | None:
        """From here on the disk, not storage, is to blame for what is missing."""
        return min((damage.offset for damage in self.damages), default=None)

    @property
    def untouched_from(self) -> int:
        """Compaction has not been at or behind this."""
        return max((each.end_offset for each in self.passes), default=0)

    def tombstone_may_be_gone(self, offset: int) -> bool:
        """Whether one pass may have met the tombstone, and another come after its delete horizon."""
        met = [each.now for each in self.passes if each.end_offset > offset]
        return any(later >= earlier + self.delete_retention_ms for earlier, later in combinations(met, 2))

    def producer(self, number: int) -> SequencedProducer:
        """One of the producers that write here."""
        if number not in self.producers:
            self.producers[number] = SequencedProducer(producer_id=1000 + number)
        return self.producers[number]

    def entry_at(self, base_offset: int) -> Entry | None:
        """The batch that begins at an offset."""
        return next((entry for entry in self.entries if entry.base_offset == base_offset), None)

    def find_sequence(self, producer_id: int, base_sequence: int) -> Entry | None:
        """The batch of a producer that begins with a sequence."""
        for entry in self.entries:
            if entry.header.producer_id == producer_id and entry.header.base_sequence == base_sequence:
                return entry
        return None

    def acknowledge(self, end: int) -> None:
        """Everything below ``end`` is promised, and producers are told so."""
        self.acknowledged_end = max(self.acknowledged_end, end)
        for producer in self.producers.values():
            self._settle(producer)

    def begin_cut(self, offset: int) -> None:
        """The log is about to be cut: what follows is not promised any more, though it may come back."""
        self.acknowledged_end = min(self.acknowledged_end, offset)
        self.sealed_end = min(self.sealed_end, offset)
        self.flushed_end = min(self.flushed_end, offset)
        self.is_being_cut = True

    def finish_cut(self, offset: int) -> None:
        """The cut is durable: what was behind it must never be seen again."""
        self.entries = [entry for entry in self.entries if entry.next_offset <= offset]
        self.log_start = min(self.log_start, offset)
        self.kept_log_start = min(self.kept_log_start, offset)
        self.damages = [damage for damage in self.damages if damage.offset < offset]
        self.is_being_cut = False

    def begin_restart(self, offset: int) -> None:
        """The log is about to begin anew: from now on all of it is there, or nothing."""
        self.sealed_end = min(self.sealed_end, offset)
        self.flushed_end = min(self.flushed_end, offset)
        self.kept_log_start = min(self.kept_log_start, offset)
        self.restarts_at = offset

    def has_restarted(self, start: int, end: int) -> bool:
        """Whether a log with these ends has begun anew, if it was told to."""
        return self.restarts_at == start == end

    def finish_restart(self, offset: int) -> None:
        """The log has begun anew: nothing of the old one must ever be seen again."""
        self.entries = []
        self.damages = []
        self.begin = self.acknowledged_end = self.log_start = self.kept_log_start = offset
        self.restarts_at = None

    def forget_producers_sends(self) -> None:
        """After a cut that producers know nothing of, each goes on behind what the log has of it."""
        for producer in self.producers.values():
            producer.unacknowledged.clear()
            last = self.last_of(producer.producer_id)
            producer.next_sequence = 0 if last is None else (last.header.last_sequence + 1) & SEQUENCE_MAX

    def last_of(self, producer_id: int) -> Entry | None:
        """The newest batch of a producer."""
        return next(
            (entry for entry in reversed(self.entries) if entry.header.producer_id == producer_id), None
        )

    def adopt(self, start: int, end: int) -> None:
        """A restart has shown what there is, and all of that is promised from now on.

        Producers do not know of it: they send again what they heard nothing of.
        """
        has_lost = self.is_being_cut or end < self.acknowledged_end
        if self.has_restarted(start, end):
            self.finish_restart(end)
            has_lost = True
        self.restarts_at = None
        self.finish_cut(end)
        self.acknowledged_end = end
        self.start_was_interrupted = False
        if has_lost:
            self.forget_producers_sends()

    def _settle(self, producer: SequencedProducer) -> None:
        while producer.unacknowledged:
            sent = producer.unacknowledged[0]
            entry = self.find_sequence(producer.producer_id, sent.header.base_sequence)
            if entry is None or entry.next_offset > self.acknowledged_end:
                return
            producer.unacknowledged.popleft()
