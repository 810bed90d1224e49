from hypothesis import given
from hypothesis.strategies import integers, lists, tuples

from penstock.storage.segment_groups import RELATIVE_OFFSET_MAX, SegmentSize, group_segments


def sizes_of(*rows: tuple[int, int, int]) -> list[SegmentSize]:
    """Rows of offsets, bytes and index bytes."""
    made, offset = [], 0
    for offsets, size_bytes, index_bytes in rows:
        made.append(
            SegmentSize(
                base_offset=offset,
                next_offset=offset + offsets,
                size_bytes=size_bytes,
                index_bytes=index_bytes,
            )
        )
        offset += offsets
    return made


def groups_of(*rows: tuple[int, int, int]) -> list[range]:
    return group_segments(sizes_of(*rows), segment_bytes=100, index_bytes=50)


def test_neighbours_are_grouped_up_to_the_segment_size() -> None:
    assert groups_of((1, 40, 1), (1, 60, 1), (1, 1, 1)) == [range(0, 2), range(2, 3)]


def test_large_segment_stays_alone() -> None:
    assert groups_of((1, 10, 1), (1, 500, 1), (1, 10, 1)) == [range(0, 1), range(1, 2), range(2, 3)]


def test_indexes_limit_a_group() -> None:
    assert groups_of((1, 1, 30), (1, 1, 30), (1, 1, 20)) == [range(0, 1), range(1, 3)]


def test_offsets_limit_a_group() -> None:
    half = RELATIVE_OFFSET_MAX // 2 + 1
    assert groups_of((half, 1, 1), (half, 1, 1), (1, 1, 1)) == [range(0, 2), range(2, 3)]


def test_no_segments_make_no_group() -> None:
    assert groups_of() == []


@given(lists(tuples(integers(1, 2**30), integers(0, 120), integers(0, 60))))
def test_every_segment_is_in_one_group_and_groups_fit(rows: list[tuple[int, int, int]]) -> None:
    sizes = sizes_of(*rows)
    groups = group_segments(sizes, segment_bytes=100, index_bytes=50)
    assert [number for group in groups for number in group] == list(range(len(rows)))
    for group in groups:
        members = sizes[group.start : group.stop]
        assert members
        if len(members) > 1:
            assert sum(member.size_bytes for member in members) <= 100
            assert sum(member.index_bytes for member in members) <= 50
            assert members[-1].next_offset - 1 - members[0].base_offset <= RELATIVE_OFFSET_MAX
