"""Which files are merged, and that it comes to an end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spark.archive.some_files import HOUR_MS, NOON_MS, a_file

from penstock.model.errors import UsageError
from penstock.spark.archive.compaction_plan import CompactionSizes, hour_end_ms, plan_compaction
from penstock.spark.archive.files import ArchivedFile
from penstock.spark.archive.paths import Hour

SIZES = CompactionSizes(small_bytes=100, target_bytes=300, closed_after_ms=HOUR_MS)
LATER_MS = NOON_MS + 2 * HOUR_MS


def names(files: tuple[ArchivedFile, ...]) -> list[str]:
    return [file.path.rpartition("/")[2] for file in files]


def plan(*files: ArchivedFile, now_ms: int = LATER_MS) -> list[list[str]]:
    return [names(merge.files) for merge in plan_compaction(files, SIZES, now_ms=now_ms)]


def test_small_files_are_merged_in_order_of_offsets_up_to_the_size_wanted() -> None:
    files = [a_file(f"{n}", size_bytes=90, first=10 * n, last=10 * n + 9) for n in range(7)]

    assert plan(*reversed(files)) == [["0", "1", "2"], ["3", "4", "5"]]


def test_large_files_and_single_ones_are_left_alone() -> None:
    assert plan(a_file("large", size_bytes=100), a_file("small", size_bytes=99, first=10, last=11)) == []


def test_hours_and_incarnations_are_kept_apart() -> None:
    other = "topic=orders/date=2026-01-31/hour=11"
    files = [
        a_file("a", size_bytes=9),
        a_file("b", size_bytes=9, first=10, last=11),
        a_file("c", size_bytes=9, directory=other),
        a_file("d", size_bytes=9, directory=other, first=10, last=11),
        a_file("e", size_bytes=9, incarnation=1),
    ]

    assert plan(*files) == [["c", "d"], ["a", "b"]]


def test_hour_that_is_not_over_is_left_alone() -> None:
    files = [a_file("a", size_bytes=9), a_file("b", size_bytes=9, first=10, last=11)]

    assert plan(*files, now_ms=LATER_MS - 1) == []
    assert plan(*files, now_ms=LATER_MS) == [["a", "b"]]


@pytest.mark.parametrize(
    ("date", "hour", "end_ms"),
    [
        ("1970-01-01", "00", HOUR_MS),
        ("1969-12-31", "23", 0),
        ("2026-01-31", "12", NOON_MS + HOUR_MS),
        ("+12026-01-31", "12", 0),
    ],
)
def test_end_of_an_hour(date: str, hour: str, end_ms: int) -> None:
    assert hour_end_ms(Hour("orders", date, hour)) == end_ms


@given(st.lists(st.integers(1, 120), max_size=40))
def test_repeated_compaction_leaves_at_most_one_small_file_and_ends(sizes: list[int]) -> None:
    files = [a_file(f"{n}", size_bytes=size, first=n, last=n) for n, size in enumerate(sizes)]
    for generation in range(10):
        merges = plan_compaction(files, SIZES, now_ms=LATER_MS)
        if not merges:
            break
        for number, merge in enumerate(merges):
            assert merge.size_bytes <= SIZES.target_bytes
            files = [file for file in files if file not in merge.files]
            first = min(file.spans[0].first for file in merge.files)
            name = f"merged-{generation}-{number}"
            files.append(a_file(name, size_bytes=merge.size_bytes, first=first, last=first))
    else:
        pytest.fail("it does not end")

    assert sum(file.size_bytes for file in files) == sum(sizes)
    assert len([file for file in files if file.size_bytes < SIZES.small_bytes]) <= 1


@pytest.mark.parametrize(("small", "target", "closed_after_ms"), [(0, 10, 0), (11, 10, 0), (1, 2, -1)])
def test_sizes_that_make_no_sense_are_refused(small: int, target: int, closed_after_ms: int) -> None:
    with pytest.raises(UsageError):
        CompactionSizes(small_bytes=small, target_bytes=target, closed_after_ms=closed_after_ms)
