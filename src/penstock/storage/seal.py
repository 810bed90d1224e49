"""``durable-offsets``: up to where each log was known to be on disk.

A power loss may tear the end of a log; a rotting disk may spoil it. Both look alike: a last batch whose
checksum is wrong. The first may be cut off, since nobody was promised it; the second may not. The seal tells
them apart: below the sealed offset everything was flushed, so damage there is corruption.

A seal may be too low (it then vouches for less) but never too high, or a legal end of a log would look like a
loss. Hence ``record`` is given durable offsets only, and a log is truncated only after ``lower`` was flushed.

One slot of 32 bytes per partition: topic id (16 bytes), partition i32, offset i64, CRC-32 u32 of the bytes
before. No slot crosses a sector, so a power loss leaves the old one or the new. An unreadable slot is free.

State changes on the loop; ``begin_write`` hands the changed slots to a job that may run on any thread. One
job at a time: two in flight could put an older offset over a newer one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from penstock.model.errors import InvariantError
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


class SealJob:
    """The slots changed since the last job, to be written and flushed off the loop."""

    __slots__ = ("_file", "slots")

    def __init__(self, file: File, slots: list[tuple[int, bytes]]) -> None:
        self._file = file
        #: Slot numbers and contents, ascending.
        self.slots = slots

    def write(self) -> None:
        """Put the slots into the page cache, neighbours in one go."""
        for _, run in groupby(enumerate(self.slots), lambda entry: entry[1][0] - entry[0]):
            slots = [slot for _, slot in run]
            self._file.write(slots[0][0] * SLOT_BYTES, [content for _, content in slots])

    def flush(self) -> None:
        """Make them durable."""
        self._file.flush()

    def run(self) -> None:
        """Both."""
        self.write()
        self.flush()


class Seal:
    """The sealed offsets of one data directory."""

    def __init__(self, file: File, content: bytes) -> None:
        self._file = file
        self._slots: dict[SealKey, _Slot] = {}
        self._free: list[int] = []
        self._slot_count = len(content) // SLOT_BYTES
        #: Slot numbers whose content changed since the last job, and what they hold now.
        self._changed: dict[int, bytes] = {}
        self._is_writing = False
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
            self._changed[slot.number] = _FREE_SLOT
            self._free.append(slot.number)

    def retain(self, keys: Iterable[SealKey]) -> None:
        """Free the slots of all partitions but these."""
        for key in sorted(self._slots.keys() - set(keys)):
            self.forget(key)

    def begin_write(self) -> SealJob | None:
        """A job with all changes so far; None when there are none. ``finish_write`` must follow it."""
        if self._is_writing:
            raise InvariantError("Two writes of the seal would be in flight")
        if not self._changed:
            return None
        changed, self._changed = self._changed, {}
        self._is_writing = True
        return SealJob(self._file, sorted(changed.items()))

    def finish_write(self, job: SealJob) -> None:
        """The job has run."""
        self._is_writing = False

    def fail_write(self, job: SealJob) -> None:
        """The job found no room: its slots are still to be written. (A failed flush ends the process.)"""
        self._is_writing = False
        self._changed = dict(job.slots) | self._changed

    def flush(self) -> None:
        """Write and flush all changes (blocking)."""
        job = self.begin_write()
        if job is not None:
            job.run()
            self.finish_write(job)

    def close(self) -> None:
        """Close the file; what was not flushed may be lost."""
        self._file.close()

    def _load(self, number: int, content: bytes) -> None:
        (checksum,) = _CHECKSUM.unpack_from(content, _FACTS.size)
        if checksum != crc32(content[: _FACTS.size]):
            self._free.append(number)
            return
        topic_id, partition, offset = _FACTS.unpack_from(content)
        self._slots[SealKey(TopicId(topic_id), partition)] = _Slot(number, Offset(offset))

    def _put(self, key: SealKey, slot: _Slot) -> None:
        facts = _FACTS.pack(*key, slot.offset)
        self._slots[key] = slot
        self._changed[slot.number] = facts + _CHECKSUM.pack(crc32(facts))

    def _take_slot(self) -> int:
        if self._free:
            return self._free.pop()
        self._slot_count += 1
        return self._slot_count - 1
