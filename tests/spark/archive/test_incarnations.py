"""Ids tell a topic from the one that was there before."""

import pytest

from penstock.spark.archive.incarnations import incarnation_of


@pytest.mark.parametrize(
    ("ids", "topic_id", "number", "known"),
    [
        ((), "a", 0, ("a",)),
        ((), None, 0, ("",)),
        (("a",), "a", 0, ("a",)),
        (("a",), None, 0, ("a",)),
        (("a",), "b", 1, ("a", "b")),
        (("a", "b"), "a", 0, ("a", "b")),
        (("",), "a", 0, ("a",)),
        (("a", "b"), None, 1, ("a", "b")),
    ],
    ids=["new", "new-without-id", "same", "id-not-told", "made-anew", "older", "id-learned", "latest"],
)
def test_incarnation_of_id(
    ids: tuple[str, ...], topic_id: str | None, number: int, known: tuple[str, ...]
) -> None:
    assert incarnation_of(ids, topic_id) == (number, known)
