"""Sharing a limit among partitions that wait."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.offsets.limits import share_limit

BACKLOGS = st.dictionaries(st.integers(0, 30), st.integers(0, 10**12), max_size=12)


@given(BACKLOGS, st.integers(1, 10**9))
def test_shares_add_up_to_the_limit_or_to_all_there_is(backlogs: dict[int, int], limit: int) -> None:
    shares = share_limit(backlogs, limit)

    assert shares.keys() == backlogs.keys()
    assert all(0 <= shares[key] <= backlogs[key] for key in backlogs)
    assert sum(shares.values()) == min(limit, sum(backlogs.values()))


@given(BACKLOGS, st.integers(1, 10**9))
def test_nobody_who_waits_gets_nothing_if_the_limit_allows_it(backlogs: dict[int, int], limit: int) -> None:
    shares = share_limit(backlogs, limit)
    waiting = [key for key, size in backlogs.items() if size]

    if limit >= len(waiting):
        assert all(shares[key] > 0 for key in waiting)


@given(BACKLOGS, st.integers(100, 10**9))
def test_shares_are_in_proportion_to_what_waits(backlogs: dict[int, int], limit: int) -> None:
    shares = share_limit(backlogs, limit)
    total = sum(backlogs.values())

    for key, size in backlogs.items():
        assert abs(shares[key] - min(size, size * limit / max(total, 1))) <= len(backlogs) + 1


def test_largest_backlogs_come_first_when_there_is_not_one_for_each() -> None:
    assert share_limit({"a": 5, "b": 50, "c": 500}, 2) == {"a": 0, "b": 1, "c": 1}
