"""Two ascending columns of numbers in a file: what an offset index and a time index have in common.

Entries stand on the file first and, behind them, in memory: ``append`` never touches the disk, and
``capture`` hands the new part to a job that writes it. So an index that is hardly read costs no open file
and no memory.

Indexes are derived. Nobody may believe an entry without comparing it with the batch it points at, and
whoever finds a lie (or ``DamagedIndexError``) builds the index anew from the log. That is why nothing here
is flushed before it is acknowledged, and why a search through garbage only has to end, not to be right.
"""

from array import array
from bisect import bisect_left, bisect_right
from struct import Struct
from typing import NamedTuple

from penstock.model.errors import CorruptLogError
from penstock.storage.filesystem import File, FileSystem, PathMissingError

BLOCK_ENTRIES = 512
"""Entries read at once: neighbours of what was just looked up are what is looked up next."""

KEY = 0
VALUE = 1


class DamagedIndexError(CorruptLogError):
    """An index file is missing, cut or nonsense; the log itself may be fine."""


class IndexWrite(NamedTuple):
    """The new part of an index, captured for a job."""

    path: str
    position: int
    data: bytes
    entry_count: int
    """Entries of the whole index once this is written."""
    is_final: bool
    """Whether the file is made durable, because its segment or its log is put aside."""
    cuts: bool
    """Whether the file may go on behind this with what is no longer true."""
    generation: int = 0
    """Which of the index's lives it was captured in; each cut begins another."""

    def run(self, filesystem: FileSystem) -> None:
        """Write it."""
        file = filesystem.open(self.path, create=True)
        try:
            if self.data:
                file.write(self.position, [self.data])
            if self.cuts:
                file.truncate(self.position + len(self.data))
            if self.is_final:
                file.flush()
        finally:
            file.close()


class _Block:
    """Entries of the file from entry number ``start``, decoded one by one as a search needs them."""

    __slots__ = ("_data", "_entry", "count", "start")

    def __init__(self, start: int, data: bytes, entry: Struct) -> None:
        self.start = start
        self.count = len(data) // entry.size
        self._data = data
        self._entry = entry

    def entry(self, number: int) -> tuple[int, int]:
        """An entry by its number inside the block."""
        key, value = self._entry.unpack_from(self._data, number * self._entry.size)
        return key, value

    def count_up_to(self, wanted: int, column: int) -> int:
        """How many entries have a ``column`` of at most ``wanted``."""
        return bisect_right(range(self.count), wanted, key=lambda number: self.entry(number)[column])


class SparseIndex:
    """Entries ``(key, value)``, both columns never descending."""

    __slots__ = (
        "_block",
        "_columns",
        "_entry",
        "_filesystem",
        "_generation",
        "_may_exist",
        "_needs_cut",
        "_needs_flush",
        "_written_count",
        "path",
    )

    def __init__(self, filesystem: FileSystem, path: str, entry: Struct, *, is_new: bool) -> None:
        self.path = path
        self._filesystem = filesystem
        self._entry = entry
        self._columns: tuple[array[int], array[int]] = (array("q"), array("q"))
        # None until somebody looks: opening a log must not cost a look at every index.
        self._written_count: int | None = 0 if is_new else None
        self._may_exist = not is_new
        # Whether the file holds entries that were dropped here.
        self._needs_cut = False
        # Whether the file holds entries that are not durable.
        self._needs_flush = False
        self._generation = 0
        self._block: _Block | None = None

    def __len__(self) -> int:
        return self._count_on_file() + len(self._columns[KEY])

    def append(self, key: int, value: int) -> None:
        """Add the newest entry, in memory only."""
        keys, values = self._columns
        keys.append(key)
        values.append(value)

    def last(self) -> tuple[int, int] | None:
        """The newest entry."""
        return self.entry(len(self) - 1)

    def entry(self, number: int) -> tuple[int, int] | None:
        """An entry by its number, counted from 0; None if there is none of that number."""
        keys, values = self._columns
        written = self._count_on_file()
        if 0 <= number < written:
            block = self._block_with(number)
            return block.entry(number - block.start)
        pending = number - written
        return (keys[pending], values[pending]) if 0 <= pending < len(keys) else None

    def floor(self, wanted: int, *, column: int = KEY) -> tuple[int, int] | None:
        """The last entry whose ``column`` is at most ``wanted``."""
        return self.entry(self.floor_number(wanted, column=column))

    def floor_number(self, wanted: int, *, column: int = KEY) -> int:
        """The number of that entry; -1 if there is none."""
        pending = self._columns[column]
        if pending and pending[0] <= wanted:
            return self._count_on_file() + bisect_right(pending, wanted) - 1
        block = self._block_for(wanted, column)
        if block is None:
            return -1
        number = block.count_up_to(wanted, column) - 1
        return block.start + number if number >= 0 else -1

    def drop_values_from(self, limit: int) -> None:
        """Forget every entry whose value is at least ``limit``, in memory; the file follows when written."""
        keys, values = self._columns
        number = bisect_left(values, limit)
        if number < len(keys):
            del keys[number:]
            del values[number:]
            # A write that is under way may have them.
            self._cut_to(self._count_on_file())
        if number == 0:
            self._drop_on_file(limit)

    def clear(self) -> None:
        """Forget everything, before building anew."""
        for column in self._columns:
            del column[:]
        self._cut_to(0)

    def capture(self, *, is_final: bool) -> IndexWrite | None:
        """What the file lacks, for a job to write; None when it lacks nothing.

        A final write also makes durable what is there. Only final ones cut: of two writes under way, one
        that cuts could undo the other.
        """
        keys, values = self._columns
        if self._needs_cut and not is_final:
            return None
        is_durable = not (is_final and self._needs_flush)
        if not keys and not self._needs_cut and self._may_exist and is_durable:
            return None
        self._may_exist = True
        written = self._count_on_file()
        return IndexWrite(
            path=self.path,
            position=written * self._entry.size,
            data=b"".join(map(self._entry.pack, keys, values)),
            entry_count=written + len(keys),
            is_final=is_final,
            cuts=self._needs_cut,
            generation=self._generation,
        )

    def settle(self, write: IndexWrite) -> None:
        """The job succeeded: what it wrote need not be kept in memory."""
        if write.generation != self._generation:
            return
        done = write.entry_count - self._count_on_file()
        if done > 0:
            for column in self._columns:
                del column[:done]
            self._written_count = write.entry_count
            self._block = None
        self._needs_flush = not write.is_final
        if write.cuts:
            self._needs_cut = False

    def _count_on_file(self) -> int:
        if self._written_count is None:
            self._written_count = self._measure()
        return self._written_count

    def _measure(self) -> int:
        try:
            size = self._filesystem.size(self.path)
        except PathMissingError as error:
            raise DamagedIndexError(f"Index {self.path} is missing") from error
        if size % self._entry.size:
            raise DamagedIndexError(f"Index {self.path} has {size} bytes, no multiple of {self._entry.size}")
        return size // self._entry.size

    def _drop_on_file(self, limit: int) -> None:
        count = self._count_on_file()
        while count:
            block = self._block_with(count - 1)
            if block.entry(count - 1 - block.start)[VALUE] < limit:
                break
            count = block.start + block.count_up_to(limit - 1, VALUE)
        if count != self._written_count:
            self._cut_to(count)

    def _cut_to(self, count: int) -> None:
        self._written_count = count
        self._needs_cut = self._may_exist
        self._generation += 1
        self._block = None

    def _block_for(self, wanted: int, column: int) -> _Block | None:
        count = self._count_on_file()
        if count == 0:
            return None
        block = self._block
        if block is not None and block.entry(0)[column] <= wanted:
            is_last = block.start + block.count >= count
            if is_last or wanted < block.entry(block.count - 1)[column]:
                return block
        self._block = self._search_block(wanted, column, count)
        return self._block

    def _search_block(self, wanted: int, column: int, count: int) -> _Block:
        file = self._open()
        try:
            low, high = 0, (count - 1) // BLOCK_ENTRIES
            while low < high:
                middle = (low + high + 1) // 2
                if self._read_from(file, middle * BLOCK_ENTRIES)[column] <= wanted:
                    low = middle
                else:
                    high = middle - 1
            return self._read_block(file, low * BLOCK_ENTRIES, count)
        finally:
            file.close()

    def _block_with(self, number: int) -> _Block:
        """The block that holds an entry of the file."""
        block = self._block
        if block is None or not block.start <= number < block.start + block.count:
            file = self._open()
            try:
                start = number - number % BLOCK_ENTRIES
                self._block = block = self._read_block(file, start, self._count_on_file())
            finally:
                file.close()
        return block

    def _read_block(self, file: File, start: int, count: int) -> _Block:
        size = self._entry.size
        wanted = min(BLOCK_ENTRIES, count - start) * size
        data = file.read(start * size, wanted)
        if len(data) != wanted:
            raise DamagedIndexError(f"Index {self.path} ends before entry {count}")
        return _Block(start, data, self._entry)

    def _read_from(self, file: File, number: int) -> tuple[int, int]:
        data = file.read(number * self._entry.size, self._entry.size)
        if len(data) != self._entry.size:
            raise DamagedIndexError(f"Index {self.path} ends before entry {number}")
        key, value = self._entry.unpack(data)
        return key, value

    def _open(self) -> File:
        try:
            return self._filesystem.open(self.path)
        except PathMissingError as error:
            raise DamagedIndexError(f"Index {self.path} is missing") from error
