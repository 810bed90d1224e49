import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.replication.epochs import RecordEpochs, history

from penstock.replication.divergence import EpochEnd, EpochHistory, diverging_epoch, truncation_offset


def leaves(history: EpochHistory, end: int, *, fetch: int, last: int) -> EpochEnd | None:
    return diverging_epoch(history, log_end_offset=end, fetch_offset=fetch, last_fetched_epoch=last)


def test_follower_in_the_leaders_log_does_not_diverge() -> None:
    leader = history((0, 0), (2, 10))
    assert leaves(leader, 20, fetch=20, last=2) is None
    assert leaves(leader, 20, fetch=12, last=2) is None
    assert leaves(leader, 20, fetch=10, last=0) is None
    assert leaves(leader, 20, fetch=0, last=-1) is None


def test_follower_with_more_of_an_old_epoch_learns_where_that_ended() -> None:
    assert leaves(history((0, 0), (2, 10)), 20, fetch=13, last=0) == EpochEnd(0, 10)


def test_follower_with_an_epoch_the_leader_never_had_learns_the_one_before() -> None:
    assert leaves(history((0, 0), (2, 10)), 20, fetch=13, last=1) == EpochEnd(0, 10)


def test_leader_that_wrote_nothing_in_its_epoch_still_tells() -> None:
    """Its newest record is of epoch 0; the follower has records of a leader in between."""
    assert leaves(history((0, 0)), 10, fetch=12, last=1) == EpochEnd(0, 10)
    assert leaves(history((0, 0), (2, 10)), 10, fetch=12, last=1) == EpochEnd(0, 10)


def test_empty_leader_has_nothing_to_compare_with() -> None:
    assert leaves(history(), 5, fetch=5, last=3) is None
    assert leaves(history(), 5, fetch=6, last=3) == EpochEnd(-1, 5)


def test_follower_with_the_epoch_keeps_what_both_have() -> None:
    own = history((0, 0), (1, 10))
    assert truncation_offset(own, log_end_offset=15, leaders=EpochEnd(1, 12)) == 12
    assert truncation_offset(own, log_end_offset=15, leaders=EpochEnd(0, 8)) == 8
    assert truncation_offset(own, log_end_offset=15, leaders=EpochEnd(0, 12)) == 10


def test_follower_without_the_epoch_falls_back_to_the_one_before() -> None:
    own = history((0, 0), (3, 10))
    assert truncation_offset(own, log_end_offset=15, leaders=EpochEnd(2, 12)) == 10


def test_follower_of_an_empty_leader_ends_where_it_ends() -> None:
    assert truncation_offset(history((0, 0)), log_end_offset=15, leaders=EpochEnd(-1, 5)) == 5


epochs = st.lists(st.integers(0, 6), max_size=12).map(sorted)


@st.composite
def two_logs(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two logs that Kafka's rules allow: equal up to a point, then with no epoch of the rest in common.

    Within an epoch there is one leader, so records of one epoch at one offset are the same record.
    """
    common = draw(epochs)
    last = common[-1] if common else 0
    rest = st.lists(st.integers(last, 8), max_size=6).map(sorted)
    mine, theirs = draw(rest), draw(rest)
    theirs_only = [epoch for epoch in theirs if epoch not in mine or epoch == last]
    if mine and theirs_only and mine[0] == theirs_only[0]:
        mine = [epoch for epoch in mine if epoch != last]
    return [*common, *mine], [*common, *theirs_only]


def shared(one: list[int], other: list[int]) -> int:
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


@settings(deadline=None)
@given(two_logs())
def test_follower_ends_up_with_exactly_what_both_logs_share(logs: tuple[list[int], list[int]]) -> None:
    follower, leader = logs
    keep = shared(follower, leader)
    for _ in range(20):
        found = leaves(
            RecordEpochs(leader),
            len(leader),
            fetch=len(follower),
            last=follower[-1] if follower else -1,
        )
        if found is None:
            break
        cut = truncation_offset(RecordEpochs(follower), log_end_offset=len(follower), leaders=found)
        assert keep <= cut < len(follower)
        follower = follower[:cut]
    else:
        pytest.fail("never ends")
    assert len(follower) == keep
