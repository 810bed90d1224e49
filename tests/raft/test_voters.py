"""Quorum arithmetic, compared with counting it out."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.raft.node_driver import key, voters

from penstock.model.errors import InvariantError
from penstock.raft.replica import ReplicaKey, Voter
from penstock.raft.voters import NO_VOTERS, VoterSet, voter_set

NUMBERS = st.sets(st.integers(0, 20), min_size=1, max_size=7)


def majorities(voter_set: VoterSet) -> list[set[ReplicaKey]]:
    """Every smallest group that decides."""
    return [set(group) for group in combinations(voter_set.keys, voter_set.majority)]


@given(numbers=NUMBERS)
def test_any_two_majorities_share_a_voter(numbers: set[int]) -> None:
    some = voters(*numbers)
    groups = majorities(some)
    assert all(one & other for one in groups for other in groups)
    assert all(some.has_majority(group) for group in groups)


@given(numbers=NUMBERS)
def test_one_less_than_a_majority_is_none(numbers: set[int]) -> None:
    some = voters(*numbers)
    smaller = combinations(some.keys, some.majority - 1)
    assert not any(some.has_majority(set(group)) for group in smaller)


@given(numbers=NUMBERS, new=st.integers(21, 30))
def test_majorities_of_sets_that_differ_by_one_voter_share_one(numbers: set[int], new: int) -> None:
    """What makes changes by single steps safe: dissertation, section 4.1."""
    before = voters(*numbers)
    after = before.including(Voter(key=key(new)))
    assert all(one & other for one in majorities(before) for other in majorities(after))
    assert after.excluding(key(new)) == before


@given(reached=st.dictionaries(st.integers(0, 20), st.integers(0, 9), min_size=1, max_size=7))
def test_majority_has_what_counting_says(reached: dict[int, int]) -> None:
    some = voters(*reached)

    def holders(offset: int) -> set[ReplicaKey]:
        return {key(number) for number, end in reached.items() if end >= offset}

    expected = max(offset for offset in range(10) if some.has_majority(holders(offset)))
    assert some.majority_has(lambda each: reached[int(each.node_id)]) == expected


@given(numbers=NUMBERS, strangers=st.sets(st.integers(21, 30)))
def test_strangers_never_count(numbers: set[int], strangers: set[int]) -> None:
    assert not voters(*numbers).has_majority({key(number) for number in strangers})


def test_another_disk_of_a_voter_does_not_count() -> None:
    assert not voters(1).has_majority({key(1, disk=2)})
    assert key(1, disk=2) not in voters(1)


def test_nobody_has_a_majority_of_nobody() -> None:
    assert not NO_VOTERS.has_majority(set())
    assert NO_VOTERS.majority_has(lambda _: 5) == -1
    assert str(NO_VOTERS) == "nobody"


def test_a_node_votes_once_whatever_its_disks() -> None:
    with pytest.raises(InvariantError, match="already"):
        voters(1, 2).including(Voter(key=key(2, disk=2)))
    with pytest.raises(InvariantError, match="not in order"):
        VoterSet((Voter(key=key(2)), Voter(key=key(1))))


def test_who_is_no_voter_cannot_be_excluded() -> None:
    with pytest.raises(InvariantError, match="not among"):
        voters(1).excluding(key(2))


def test_a_set_is_in_order_however_it_is_made() -> None:
    assert voter_set([Voter(key=key(3)), Voter(key=key(1))]).keys == (key(1), key(3))
    assert len(voters(1, 2, 3)) == 3
