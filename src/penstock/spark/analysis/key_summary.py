"""Keys that Spark has counted: all of them exactly, though only the most frequent are brought here."""

from collections.abc import Sequence

from penstock.analysis.key_counts import KeyCounts, TopKey, kept_key


class KeySummary(KeyCounts):
    """Tells what ``KeyCounts`` tells; takes no more keys."""

    __slots__ = ("_distinct_count", "_top")

    def __init__(
        self, *, keyed_count: int, null_count: int, distinct_count: int, top: Sequence[tuple[bytes, int]]
    ) -> None:
        super().__init__(keys_max=0)
        self.keyed_count = keyed_count
        self.null_count = null_count
        self._distinct_count = distinct_count
        self._top = [TopKey(kept_key(key), count, count / keyed_count) for key, count in top]

    @property
    def distinct_count(self) -> int:
        """How many different keys there are, exactly."""
        return self._distinct_count

    def top(self, count_max: int) -> list[TopKey]:
        """The keys with most messages, in order, as far as they were asked for."""
        return self._top[:count_max]
