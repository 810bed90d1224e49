"""Terms of a log, compared with a plain list of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.errors import InvariantError
from penstock.raft.terms import Terms

LOGS = st.lists(st.integers(0, 3), max_size=12).map(
    lambda steps: [sum(steps[: at + 1]) for at in range(len(steps))]
)


def terms_of(log: list[int]) -> Terms:
    terms = Terms()
    for offset, term in enumerate(log):
        terms.append(term, offset, offset + 1)
    return terms


@given(log=LOGS)
def test_term_before_every_offset_is_that_of_the_entry_there(log: list[int]) -> None:
    terms = terms_of(log)
    assert [terms.before(offset) for offset in range(len(log) + 1)] == [0, *log]
    assert terms.before(len(log) + 1) is None
    assert terms.before(-1) is None
    assert terms.last_term == (log[-1] if log else 0)


@given(log=LOGS, cut=st.integers(0, 12))
def test_truncated_log_has_the_terms_of_what_is_left(log: list[int], cut: int) -> None:
    cut = min(cut, len(log))
    terms = terms_of(log)
    terms.truncate(cut)
    assert (terms.starts, terms.end_offset) == (terms_of(log[:cut]).starts, cut)


@given(log=LOGS, start=st.integers(0, 12))
def test_log_without_its_beginning_knows_the_term_before_its_start(log: list[int], start: int) -> None:
    start = min(start, len(log))
    terms = terms_of(log)
    terms.drop_before(start)
    assert terms.before(start - 1) is None
    assert [terms.before(offset) for offset in range(start, len(log) + 1)] == [0, *log][start:]
    terms.append(100, len(log), len(log) + 1)
    assert terms.last_term == 100


@given(log=LOGS, term=st.integers(0, 20), offset=st.integers(0, 14))
def test_last_place_not_above_a_term_is_what_a_search_finds(log: list[int], term: int, offset: int) -> None:
    places = [place for place in range(len(log) + 1) if place <= offset and [0, *log][place] <= term]
    assert terms_of(log).last_place_not_above(term, offset) == max(places)


@given(ours=LOGS, theirs=LOGS)
def test_two_logs_find_where_they_part_in_a_few_questions(ours: list[int], theirs: list[int]) -> None:
    """The back-off of both sides, as leader and follower do it: never more questions than there are terms."""
    leader, follower = terms_of(ours), terms_of(theirs)
    offset = leader.end_offset
    for _ in range(len(set(ours) | set(theirs)) + 2):
        previous = leader.before(offset)
        assert previous is not None
        if follower.before(offset) == previous:
            return
        hint = follower.last_place_not_above(previous, offset)
        hint_term = follower.before(hint)
        assert hint_term is not None
        place = leader.last_place_not_above(hint_term, hint)
        assert place < offset or follower.end_offset < offset
        offset = place
    raise AssertionError("they do not find it")


def test_restored_terms_go_on() -> None:
    terms = Terms(start_offset=5, base_term=2, end_offset=9, starts=[(2, 5), (4, 7)])
    assert [terms.before(offset) for offset in range(5, 10)] == [2, 2, 2, 4, 4]
    assert terms.starts == ((2, 5), (4, 7))


def test_terms_never_descend() -> None:
    with pytest.raises(InvariantError, match="cannot follow"):
        terms_of([3, 2])


def test_a_log_cannot_start_behind_its_end() -> None:
    with pytest.raises(InvariantError, match="cannot start"):
        terms_of([1]).drop_before(2)
