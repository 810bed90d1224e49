"""Which record of each key is the newest, over as much of a log as fits into a memory budget.

Records are numbered in the order in which they are read. ``fates`` has a byte for each: superseded, the
key's newest value, or the key's newest tombstone. Going over the same records once more, a cleaner needs
only their fates; older records it asks about by key.

A key of up to 31 bytes stands for itself, a longer one is represented by a digest of 128 bits, as an int, so
that the memory of an entry is known and the two kinds cannot be mistaken for each other. Two keys with the
same digest would be taken for one: with BLAKE2b nobody can make such keys on purpose, which with Kafka's MD5
they can.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

SUPERSEDED: Final = 0
VALUE: Final = 1
TOMBSTONE: Final = 2

BYTES_PER_KEY: Final = 192
"""Of a dictionary entry at its most expensive, right after the dictionary has grown: measured, rounded up."""

_SHORT_KEY_BYTES_MAX = 31
"""Python takes as much memory for these as for a digest."""

_DIGEST_BYTES = 16
_FATE_BYTES_PART = 8
"""One byte in so many of the budget is for fates."""


def _digest(key: bytes) -> int:
    return int.from_bytes(blake2b(key, digest_size=_DIGEST_BYTES).digest(), "big")


class KeyMap:
    """Filled once, front to back; then only asked."""

    __slots__ = ("_ordinals", "fates", "key_capacity", "record_capacity")

    def __init__(self, budget_bytes: int) -> None:
        #: A byte per record, in the order of ``add`` and ``skip``.
        self.fates = bytearray()
        self.record_capacity = budget_bytes // _FATE_BYTES_PART
        self.key_capacity = (budget_bytes - self.record_capacity) // BYTES_PER_KEY
        self._ordinals: dict[bytes | int, int] = {}

    def __len__(self) -> int:
        return len(self._ordinals)

    def has_room_for(self, count: int) -> bool:
        """Whether so many more records fit, whatever their keys. An empty map takes any one batch."""
        if not self.fates:
            return True
        fits_keys = len(self._ordinals) + count <= self.key_capacity
        return fits_keys and len(self.fates) + count <= self.record_capacity

    def add(self, keys: Sequence[bytes | None], tombstones: bytearray) -> None:
        """Take in the next records. One without a key is nobody's newest."""
        fates, ordinals = self.fates, self._ordinals
        ordinal = len(fates)
        fates += tombstones.translate(_FATES)
        newest = ordinals.get
        for key in keys:
            if key is None:
                fates[ordinal] = SUPERSEDED
            else:
                name = key if len(key) <= _SHORT_KEY_BYTES_MAX else _digest(key)
                older = newest(name)
                if older is not None:
                    fates[older] = SUPERSEDED
                ordinals[name] = ordinal
            ordinal += 1

    def skip(self, count: int) -> None:
        """The next records count for nothing: their transaction was aborted."""
        self.fates += bytes(count)

    def fates_of_older(self, keys: Sequence[bytes | None], tombstones: bytearray) -> bytearray:
        """The fates of records that stand before everything in the map."""
        fates, ordinals = tombstones.translate(_FATES), self._ordinals
        for number, key in enumerate(keys):
            if key is None or (key if len(key) <= _SHORT_KEY_BYTES_MAX else _digest(key)) in ordinals:
                fates[number] = SUPERSEDED
        return fates


_FATES = bytes([VALUE, TOMBSTONE]) + bytes(254)
