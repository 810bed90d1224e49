"""Two texts side by side: which lines are the same, which were changed, taken away or added."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import NamedTuple

LINES_MAX = 5_000


class Row(NamedTuple):
    """A line of both texts; a side that has none is None."""

    kind: str
    """``same``, ``changed``, ``removed`` or ``added``."""
    left_number: int | None
    left: str | None
    right_number: int | None
    right: str | None


def difference(left: str, right: str) -> list[Row]:
    """The rows of both texts, in order."""
    old, new = left.splitlines()[:LINES_MAX], right.splitlines()[:LINES_MAX]
    rows: list[Row] = []
    for kind, old_start, old_end, new_start, new_end in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        pairs = zip_longest(range(old_start, old_end), range(new_start, new_end))
        rows += _rows(pairs, old, new, word="same" if kind == "equal" else "changed")
    return rows


def _rows(
    pairs: Iterator[tuple[int | None, int | None]], old: list[str], new: list[str], *, word: str
) -> Iterator[Row]:
    for old_at, new_at in pairs:
        yield Row(
            "added" if old_at is None else "removed" if new_at is None else word,
            None if old_at is None else old_at + 1,
            None if old_at is None else old[old_at],
            None if new_at is None else new_at + 1,
            None if new_at is None else new[new_at],
        )
