"""A small state that must never be lost or turned back, in two copies (``<name>.a`` and ``<name>.b``).

For what cannot be found out again, such as whom a node voted for (disk rules 24 and 25). Each copy is
written in place, as a whole, with a counter, and is flushed before the other is touched; a write is done when
both are flushed. So whatever tears or rots, as long as one copy can be read nothing that was ever promised is
missing:

- An outage inside a write leaves the other copy, or the one that was just finished.
- A copy that rots had the same content as the other, or an older one.

Of two copies that differ in worth the better one is written last. A state of which only one copy exists was
never promised, since its first write did not come to its end.

Format, big-endian: version i16, counter i64, length i32, CRC-32C u32 of those three and the payload; then the
payload. What stands behind it is of an earlier, longer one.
"""

from struct import Struct
from typing import NamedTuple

from penstock.model.errors import OperatingError, StorageError, UsageError
from penstock.records.checksum import crc32c
from penstock.storage.filesystem import FileSystem, PathMissingError, parent_directory

COPY_SUFFIXES = (".a", ".b")
PAYLOAD_BYTES_MAX = 1024 * 1024

_VERSION = 0
_FACTS = Struct(">hqi")
_CHECKSUM = Struct(">I")
_HEADER_BYTES = _FACTS.size + _CHECKSUM.size


class AlternatingContent(NamedTuple):
    """What an alternating file holds."""

    payload: bytes
    other_was_unreadable: bool
    """Whether one copy was torn or rotten, and has been made anew. Nothing was lost by it."""


class _Copy(NamedTuple):
    counter: int
    payload: bytes


class AlternatingFile:
    """Both copies, and which one is good. Everything blocks; one thread at a time."""

    def __init__(self, filesystem: FileSystem, path: str) -> None:
        self._filesystem = filesystem
        self._path = path
        self._counter = 0
        #: The copy that is known to be good and durable; None before anything was written.
        self._good: str | None = None
        self._was_read = False
        self._names_are_durable = False

    def read(self) -> AlternatingContent | None:
        """The last payload that was written, made durable by now; None if none ever was.

        Raises if there was one and nobody can read it any more: going on without would break promises.
        """
        copies = {suffix: self._read_copy(suffix) for suffix in COPY_SUFFIXES}
        readable = {suffix: copy for suffix, copy in copies.items() if copy is not None}
        if not readable:
            self._check_never_written()
            self._was_read = True
            return None
        newest = max(readable, key=lambda suffix: readable[suffix].counter)
        self._counter, payload = readable[newest]
        was_unreadable = any(self._exists(suffix) for suffix in COPY_SUFFIXES if suffix not in readable)
        # What was just read may be in the page cache only. The same bytes once more cannot tear a copy.
        for suffix in sorted(COPY_SUFFIXES, key=lambda suffix: suffix != newest):
            self._write_copy(suffix, payload)
        self._sync_names()
        self._was_read = True
        return AlternatingContent(payload, was_unreadable)

    def write(self, payload: bytes) -> None:
        """Replace the payload; durable when this returns. If it raises, the next read tells which holds."""
        if len(payload) > PAYLOAD_BYTES_MAX:
            raise UsageError(f"{self._path} can hold {PAYLOAD_BYTES_MAX} bytes, not {len(payload)}")
        if not self._was_read:
            self.read()
        self._counter += 1
        for suffix in sorted(COPY_SUFFIXES, key=lambda suffix: suffix == self._good):
            self._write_copy(suffix, payload)
        if not self._names_are_durable:
            self._sync_names()

    def _write_copy(self, suffix: str, payload: bytes) -> None:
        facts = _FACTS.pack(_VERSION, self._counter, len(payload))
        checksum = _CHECKSUM.pack(crc32c(payload, crc32c(facts)))
        file = self._filesystem.open(self._path + suffix, create=True)
        try:
            file.write(0, [facts, checksum, payload])
            file.truncate(_HEADER_BYTES + len(payload))
            file.flush()
        finally:
            file.close()
        self._good = suffix

    def _read_copy(self, suffix: str) -> _Copy | None:
        """A copy that can be believed; None for one that is missing, torn, rotten or beyond the disk."""
        try:
            return self._parse(suffix)
        except (StorageError, ValueError):
            return None

    def _parse(self, suffix: str) -> _Copy:
        path = self._path + suffix
        if self._filesystem.size(path) > _HEADER_BYTES + PAYLOAD_BYTES_MAX:
            raise ValueError("longer than we write them")
        data = self._filesystem.read_file(path)
        if len(data) < _HEADER_BYTES:
            raise ValueError("shorter than a header")
        version, counter, length = _FACTS.unpack_from(data)
        (checksum,) = _CHECKSUM.unpack_from(data, _FACTS.size)
        payload = data[_HEADER_BYTES : _HEADER_BYTES + length]
        is_whole = version == _VERSION and len(payload) == length
        if not is_whole or checksum != crc32c(payload, crc32c(data[: _FACTS.size])):
            raise ValueError("torn or rotten")
        return _Copy(counter, payload)

    def _check_never_written(self) -> None:
        """The second copy is begun when the first is durable: with both there, something was written."""
        if all(self._exists(suffix) for suffix in COPY_SUFFIXES):
            raise OperatingError(
                f"Neither copy of {self._path} ({' and '.join(COPY_SUFFIXES)}) can be read. It holds what "
                f"this node has promised to others. Look at the disk; a node that has lost it for good can "
                f"only come back as a new one, with an empty data directory."
            )

    def _exists(self, suffix: str) -> bool:
        try:
            self._filesystem.size(self._path + suffix)
        except PathMissingError:
            return False
        return True

    def _sync_names(self) -> None:
        self._filesystem.sync_directory(parent_directory(self._path))
        self._names_are_durable = True
