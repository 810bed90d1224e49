import pytest
from tests.storage.log_testing import DIRECTORY, make_disk

from penstock.model.errors import InvariantError
from penstock.storage.segment import Segment
from penstock.storage.segments import Segments


def segment(base_offset: int, next_offset: int) -> Segment:
    made = Segment(make_disk(), DIRECTORY, base_offset, index_interval_bytes=4096, is_new=True)
    made.next_offset = next_offset
    made.size = (next_offset - base_offset) * 100
    return made


def three() -> Segments:
    return Segments([segment(0, 10), segment(10, 20), segment(20, 25)])


def bases(segments: list[Segment]) -> list[int]:
    return [one.base_offset for one in segments]


def test_last_segment_is_active() -> None:
    segments = three()
    assert segments.active.base_offset == 20
    assert segments.first.base_offset == 0
    assert segments.size_bytes == 2_500
    assert len(segments) == 3


def test_from_offset_begins_with_the_segment_that_holds_it() -> None:
    segments = three()
    assert bases(segments.from_offset(9)) == [0, 10, 20]
    assert bases(segments.from_offset(10)) == [10, 20]
    assert bases(segments.from_offset(1_000)) == [20]
    assert bases(segments.from_offset(-1)) == [0, 10, 20]


def test_new_segment_must_begin_where_the_log_ends() -> None:
    segments = three()
    with pytest.raises(InvariantError, match="25"):
        segments.add(segment(24, 24))
    segments.add(segment(25, 25))
    assert segments.active.base_offset == 25


def test_dropping_leaves_at_least_one() -> None:
    segments = three()
    assert bases(segments.drop_first(1)) == [0]
    assert bases(segments.drop_last(1)) == [20]
    assert segments.active.base_offset == 10
    with pytest.raises(InvariantError):
        segments.drop_first(1)
    with pytest.raises(InvariantError):
        segments.drop_last(1)
    assert segments.drop_last(0) == []


def test_log_without_segments_is_impossible() -> None:
    with pytest.raises(InvariantError):
        Segments([])
