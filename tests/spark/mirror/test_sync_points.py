"""Translated offsets: never behind a record that would be missed, whatever became of the copy."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.mirror.sync_points import (
    BEGINNING,
    POINTS_MAX,
    Copied,
    Points,
    SyncPoint,
    extended,
    translated,
    translated_back,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Batches that were copied."""

    points: Points
    places: dict[int, int]
    """The offset in the copy of every record that was copied."""
    source_end: int
    target_end: int


@st.composite
def histories(draw: st.DrawFn, *, batches_max: int = 12) -> History:
    """Some offsets are no records or stay behind; others write into the copy; markers take up offsets."""
    points: Points = draw(st.sampled_from([(), (BEGINNING,)]))
    places: dict[int, int] = {}
    source = draw(st.integers(0, 5))
    target = 0
    for _ in range(draw(st.integers(0, batches_max))):
        copied = draw(st.lists(st.booleans() | st.just(True), min_size=1, max_size=6))
        for offset, is_copied in enumerate(copied, source):
            target += draw(st.sampled_from([0, 0, 0, 1, 3]))
            if is_copied:
                places[offset] = target
                target += 1
        target += draw(st.integers(0, 2))
        end = source + len(copied)
        is_counted = draw(st.booleans() | st.just(True))
        points = extended(points, Copied(source, end, sum(copied) if is_counted else None, target))
        if draw(st.booleans()):
            points = extended(points, Copied(source, end, sum(copied), target))
        source = end
    return History(points=points, places=places, source_end=source, target_end=target)


@given(histories(), st.integers(0, 100))
def test_no_record_is_missed_and_nothing_is_promised_that_is_not_there(history: History, offset: int) -> None:
    place = translated(history.points, offset)

    assert 0 <= place <= history.target_end
    assert all(there >= place for record, there in history.places.items() if record >= offset)


@given(histories(), st.integers(0, 100), st.integers(0, 20))
def test_later_offsets_are_never_earlier_in_the_copy(history: History, offset: int, further: int) -> None:
    assert translated(history.points, offset) <= translated(history.points, offset + further)
    back = translated_back(history.points, offset)
    assert back <= translated_back(history.points, offset + further)


@given(histories(), st.integers(0, 100))
def test_nothing_is_missed_on_the_way_back(history: History, offset: int) -> None:
    place = translated_back(history.points, offset)

    assert place <= history.source_end
    assert all(record >= place for record, there in history.places.items() if there >= offset)


@given(histories())
def test_who_has_read_everything_reads_nothing_again(history: History) -> None:
    place = translated(history.points, history.source_end)

    assert not [there for there in history.places.values() if there >= place]


def test_offsets_within_a_batch_are_exact_where_every_one_is_a_record() -> None:
    points = extended(extended((), Copied(10, 20, 10, 11)), Copied(20, 30, 9, 21))

    assert points == (SyncPoint(10, 0, 20), SyncPoint(20, 11, 20), SyncPoint(30, 21, 30))
    assert [translated(points, offset) for offset in (3, 10, 15, 19, 20, 25, 30, 99)] == [
        *(0, 0, 5, 9),
        *(11, 11, 21, 21),
    ]


def test_old_points_become_fewer_and_the_first_and_newest_stay() -> None:
    points: Points = ()
    for number in range(1000):
        points = extended(points, Copied(number * 10, number * 10 + 10, None, number * 11 + 11))

    assert len(points) <= POINTS_MAX
    assert points[0] == SyncPoint(0, 0, 0)
    assert [point.source for point in points[-20:]] == list(range(9810, 10010, 10))


def test_topic_that_was_made_anew_begins_anew() -> None:
    points = extended((), Copied(0, 100, 100, 101))

    assert extended(points, Copied(0, 5, 5, 106)) == (SyncPoint(0, 0, 5), SyncPoint(5, 106, 5))
    assert extended(points, Copied(100, 105, 5, 6)) == (SyncPoint(100, 0, 105), SyncPoint(105, 6, 105))
