"""Words that every command reads and shows alike."""

import pytest

from penstock.cli.words import counted


@pytest.mark.parametrize(
    ("count", "noun", "said"),
    [
        (0, "row", "0 rows"),
        (1, "row", "1 row"),
        (2000, "row", "2,000 rows"),
        (1, "batch", "1 batch"),
        (2, "batch", "2 batches"),
        (1, "entry", "1 entry"),
        (3, "entry", "3 entries"),
    ],
)
def test_counted_is_one_or_many(count: int, noun: str, said: str) -> None:
    assert counted(count, noun) == said
