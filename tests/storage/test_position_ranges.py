import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.storage.position_ranges import PositionRange, PositionRanges

ranges = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=12)


def make(*added: tuple[int, int]) -> PositionRanges:
    known = PositionRanges()
    for start, end in added:
        known.add(start, end)
    return known


@settings(deadline=None)
@given(ranges, st.integers(0, 40), st.integers(0, 40))
def test_ranges_behave_like_a_set_of_positions(added: list[tuple[int, int]], start: int, end: int) -> None:
    known = make(*added)
    positions = {position for first, last in added for position in range(first, last)}
    assert known.covers(start, end) == all(position in positions for position in range(start, end))
    assert {position for first, last in known for position in range(first, last)} == positions
    known.cut(start)
    assert {position for first, last in known for position in range(first, last)} == {
        position for position in positions if position < start
    }


@settings(deadline=None)
@given(ranges)
def test_ranges_never_touch_each_other(added: list[tuple[int, int]]) -> None:
    known = list(make(*added))
    assert all(one.end < other.start for one, other in itertools.pairwise(known))


def test_first_from_is_the_range_around_or_behind_a_position() -> None:
    known = make((10, 20), (30, 40))
    assert known.first_from(0) == PositionRange(10, 20)
    assert known.first_from(19) == PositionRange(10, 20)
    assert known.first_from(20) == PositionRange(30, 40)
    assert known.first_from(40) is None
    assert len(known) == 2
