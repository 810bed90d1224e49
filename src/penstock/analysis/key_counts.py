"""Which keys there are, how many, and which of them most messages have.

Every key is counted exactly as long as there are not too many different ones. Then only frequent ones stay:
the count of the first that goes is taken off all others (Misra and Gries, 1982, in the form that can be
merged), and a ``HyperLogLog`` estimates how many different ones there were. A count that is told is then too
small by at most ``undercount``, so a key with more messages than that is never missed.
"""

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from penstock.analysis.hyperloglog import HyperLogLog

KEYS_MAX = 50_000
"""Counted exactly, unless told otherwise."""

_KEY_BYTES_MAX = 64
_PREFIX_BYTES = 32


class LongKey(NamedTuple):
    """Stands for a key that is too long to be kept."""

    prefix: bytes
    size: int
    digest: bytes


CountedKey = bytes | LongKey


class TopKey(NamedTuple):
    """A key with at least so many messages."""

    key: CountedKey
    messages: int
    share: float
    """Of all messages with a key."""


class KeyCounts:
    """Messages by key; ``keys_max`` bounds how many keys are remembered."""

    __slots__ = ("_counts", "_keys_max", "_sketch", "keyed_count", "null_count", "undercount")

    def __init__(self, *, keys_max: int = KEYS_MAX) -> None:
        self._keys_max = keys_max
        self._counts: Counter[CountedKey] = Counter()
        #: None while all keys are counted exactly.
        self._sketch: HyperLogLog | None = None
        self.keyed_count = 0
        self.null_count = 0
        self.undercount = 0

    def add(self, keys: Sequence[bytes | None]) -> None:
        """Count the keys of some messages."""
        found = Counter(keys)
        nulls = found.pop(None, 0)
        self.null_count += nulls
        self.keyed_count += len(keys) - nulls
        self._count({kept_key(key): count for key, count in found.items() if key is not None})

    def merge(self, other: "KeyCounts") -> None:
        """Count all that the other has counted."""
        self.null_count += other.null_count
        self.keyed_count += other.keyed_count
        self.undercount += other.undercount
        if other._sketch is not None:
            self._begin_sketch().merge(other._sketch)
        self._count(other._counts)

    @property
    def is_exact(self) -> bool:
        """Whether every key is known, with its true count."""
        return self._sketch is None

    @property
    def distinct_count(self) -> int:
        """How many different keys there are; an estimate unless ``is_exact``."""
        return len(self._counts) if self._sketch is None else self._sketch.estimate()

    def top(self, count_max: int) -> list[TopKey]:
        """The keys with most messages, in order."""
        ordered = sorted(self._counts.items(), key=lambda each: (-each[1], shown_key(each[0])))
        return [TopKey(key, count, count / self.keyed_count) for key, count in ordered[:count_max]]

    def as_json(self, *, top_max: int) -> dict[str, Any]:
        """Cardinality, how it was found, and the most frequent keys."""
        return {
            "keyed_messages": self.keyed_count,
            "null_keys": self.null_count,
            "distinct": self.distinct_count,
            "method": "exact" if self.is_exact else "hyperloglog",
            "top": [
                {"key": shown_key(key), "messages": count, "share": round(share, 4)}
                for key, count, share in self.top(top_max)
            ],
            "top_undercount_max": self.undercount,
        }

    def _count(self, counts: "dict[CountedKey, int] | Counter[CountedKey]") -> None:
        if self._sketch is not None:
            self._sketch.add(map(_identity, counts))
        self._counts.update(counts)
        if len(self._counts) > self._keys_max:
            self._begin_sketch()
            self._prune()

    def _begin_sketch(self) -> HyperLogLog:
        if self._sketch is None:
            self._sketch = HyperLogLog()
            self._sketch.add(map(_identity, self._counts))
        return self._sketch

    def _prune(self) -> None:
        """Keep the more frequent half, less what the first of the others had."""
        kept = self._keys_max // 2
        threshold = sorted(self._counts.values(), reverse=True)[kept]
        self._counts = Counter(
            {key: count - threshold for key, count in self._counts.items() if count > threshold}
        )
        self.undercount += threshold


def shown_key(key: CountedKey) -> str:
    """The key as people read it: escapes for what is no text, the beginning only of a long one."""
    if isinstance(key, LongKey):
        return f"{shown_key(key.prefix)}… ({key.size} bytes)"
    try:
        text = key.decode()
    except UnicodeDecodeError:
        return "0x" + key.hex()
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def kept_key(key: bytes) -> CountedKey:
    """What is remembered of a key: itself, or what stands for it if it is long."""
    if len(key) <= _KEY_BYTES_MAX:
        return key
    return LongKey(key[:_PREFIX_BYTES], len(key), blake2b(key, digest_size=16).digest())


def _identity(key: CountedKey) -> bytes:
    return key.digest if isinstance(key, LongKey) else key


def keys_per_partition(partition_count: int, *, total_max: int) -> int:
    """How many keys each partition may remember: its part of ``total_max``, but a thousand in any case."""
    return max(_KEYS_MIN, min(KEYS_MAX, total_max // max(1, partition_count)))


_KEYS_MIN = 1_000
