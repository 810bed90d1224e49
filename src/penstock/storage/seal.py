"""``durable-offsets``: up to where each log was known to be on disk.

A power loss may tear the end of a log; a rotting disk may spoil it. Both look alike: a last batch whose
checksum is wrong. The first may be cut off, since nobody was promised it; the second may not. The seal tells
them apart: below the sealed offset everything was flushed, so damage there is corruption.

A seal may be too low (it then vouches for less) but never too high, or a legal end of a log would look like a
loss. Hence ``record`` is given durable offsets only, and a log is truncated only after ``lower`` was flushed.

One slot of 32 bytes per partition: topic id (16 bytes), partition i32, offset i64, CRC-32 u32 of the bytes
before. No slot crosses a sector, so a power loss leaves the old one or the new. An unreadable slot is free.

State changes on the loop; ``begin_write`` hands the changed slots to a job that may run on any thread. Jobs
may overtake each other: they are numbered, and an older one leaves alone what a newer one has written.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from struct import Struct
from threading import Lock
from typing import NamedTuple
from zlib import crc32

from penstock.model.ids import Offset, TopicId
from penstock.storage.filesystem import File, FileSystem, parent_directory

SEAL_FILE = "durable-offsets"
SLOT_BYTES = 32

_FACTS = Struct(">16siq")
_CHECKSUM = Struct(">I")
_FREE_SLOT = bytes(SLOT_BYTES)


class SealKey(NamedTuple):
    """A partition by its topic's id, which outlives nothing but the topic."""

    topic_id: TopicId
    partition: int


@dataclass(slots=True)
class _Slot:
    number: int
    offset: Offset


class _SlotFile:
    """The file, shared by jobs on several threads."""

    def __init__(self, file: File) -> None:
        self.file = file
        self._lock = Lock()
        #: By slot, the newest job that wrote it; forgotten while no job is under way.
        self._writers: dict[int, int] = {}

    def write(self, job_number: int, slots: Sequence[tuple[int, bytes]]) -> None:
        """Put slots into the page cache, neighbours in one go, but for those that a newer job has written."""
        with self._lock:
            current = [slot for slot in slots if self._writers.get(slot[0], 0) <= job_number]
            for _, run in groupby(enumerate(current), lambda entry: entry[1][0] - entry[0]):
                neighbours = [slot for _, slot in run]
                self.file.write(neighbours[0][0] * SLOT_BYTES, [content for _, content in neighbours])
            self._writers.update((number, job_number) for number, _ in current)

    def forget_writers(self) -> None:
        """No job is under way, so none can be overtaken."""
        with self._lock:
            self._writers.clear()


class SealJob:
    """The slots changed since the last job, to be written and flushed off the loop."""

    __slots__ = ("_file", "number", "slots")

    def __init__(self, file: _SlotFile, number: int, slots: list[tuple[int, bytes]]) -> None:
        self._file = file
        self.number = number
        #: Slot numbers and contents, ascending.
        self.slots = slots

    def write(self) -> None:
        """Put the slots into the page cache."""
        self._file.write(self.number, self.slots)

    def flush(self) -> None:
        """Make them durable."""
        self._file.file.flush()

    def run(self) -> None:
        """Both."""
        self.write()
        self.flush()


class Seal:
    """The sealed offsets of one data directory."""

    def __init__(self, file: File, content: bytes) -> None:
        self._file = _SlotFile(file)
        self._slots: dict[SealKey, _Slot] = {}
        #: What each slot holds now; a free one has no entry.
        self._contents: dict[int, bytes] = {}
        self._free: list[int] = []
        self._slot_count = len(content) // SLOT_BYTES
        #: Slots whose content changed since the last job.
        self._changed: set[int] = set()
        self._job_count = 0
        self._jobs_under_way: set[int] = set()
        for number in range(self._slot_count):
            self._load(number, content[number * SLOT_BYTES : (number + 1) * SLOT_BYTES])

    @classmethod
    def open(cls, fs: FileSystem, path: str) -> "Seal":
        """Read the file, making it if missing (blocking)."""
        is_new = not fs.exists(path)
        file = fs.open(path, create=True)
        if is_new:
            fs.sync_directory(parent_directory(path))
        return cls(file, file.read(0, file.size()))

    def sealed_offset(self, key: SealKey) -> Offset | None:
        """Everything of the log below this offset was flushed; None when nothing is known."""
        slot = self._slots.get(key)
        return None if slot is None else slot.offset

    def record(self, key: SealKey, offset: Offset) -> None:
        """Remember that the log is durable up to ``offset``; lower offsets are old news."""
        slot = self._slots.get(key)
        if slot is None and offset > 0:
            self._put(key, _Slot(self._take_slot(), offset))
        elif slot is not None and offset > slot.offset:
            slot.offset = offset
            self._put(key, slot)

    def lower(self, key: SealKey, offset: Offset) -> None:
        """Take a promise back, before the log is cut; the caller must run the next job before it cuts."""
        slot = self._slots.get(key)
        if slot is not None and offset < slot.offset:
            slot.offset = offset
            self._put(key, slot)

    def forget(self, key: SealKey) -> None:
        """Free the slot of a partition that is gone."""
        slot = self._slots.pop(key, None)
        if slot is not None:
            del self._contents[slot.number]
            self._changed.add(slot.number)
            self._free.append(slot.number)

    def retain(self, keys: Iterable[SealKey]) -> None:
        """Free the slots of all partitions but these."""
        for key in sorted(self._slots.keys() - set(keys)):
            self.forget(key)

    def begin_write(self) -> SealJob | None:
        """A job with all changes so far, or None; ``finish_write`` or ``fail_write`` must follow it."""
        if not self._changed:
            return None
        changed, self._changed = sorted(self._changed), set()
        self._job_count += 1
        self._jobs_under_way.add(self._job_count)
        slots = [(number, self._contents.get(number, _FREE_SLOT)) for number in changed]
        return SealJob(self._file, self._job_count, slots)

    def finish_write(self, job: SealJob) -> None:
        """The job has run."""
        self._jobs_under_way.discard(job.number)
        if not self._jobs_under_way:
            self._file.forget_writers()

    def fail_write(self, job: SealJob) -> None:
        """The job found no room: its slots are still to be written. (A failed flush ends the process.)"""
        self._changed.update(number for number, _ in job.slots)
        self.finish_write(job)

    def flush(self) -> None:
        """Write and flush all changes (blocking)."""
        job = self.begin_write()
        if job is not None:
            job.run()
            self.finish_write(job)

    def close(self) -> None:
        """Close the file; what was not flushed may be lost."""
        self._file.file.close()

    def _load(self, number: int, content: bytes) -> None:
        (checksum,) = _CHECKSUM.unpack_from(content, _FACTS.size)
        if checksum != crc32(content[: _FACTS.size]):
            self._free.append(number)
            return
        topic_id, partition, offset = _FACTS.unpack_from(content)
        self._slots[SealKey(TopicId(topic_id), partition)] = _Slot(number, Offset(offset))
        self._contents[number] = content

    def _put(self, key: SealKey, slot: _Slot) -> None:
        facts = _FACTS.pack(*key, slot.offset)
        self._slots[key] = slot
        self._contents[slot.number] = facts + _CHECKSUM.pack(crc32(facts))
        self._changed.add(slot.number)

    def _take_slot(self) -> int:
        if self._free:
            return self._free.pop()
        self._slot_count += 1
        return self._slot_count - 1
