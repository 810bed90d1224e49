import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.coordinator.deadlines import STALE_ENTRIES_MAX, Deadlines
from penstock.model.errors import InvariantError
from penstock.model.ids import Millis


def at(moment: int) -> Millis:
    return Millis(moment)


def all_due(deadlines: Deadlines[str], now: int) -> list[str]:
    keys = []
    while (key := deadlines.pop_due(at(now))) is not None:
        keys.append(key)
    return keys


def test_deadlines_come_in_the_order_of_time() -> None:
    deadlines: Deadlines[str] = Deadlines()
    for key, due in (("late", 30), ("early", 10), ("middle", 20)):
        deadlines.set(key, at(due))
    assert deadlines.next() == 10
    assert all_due(deadlines, 20) == ["early", "middle"]
    assert deadlines.next() == 30


def test_deadlines_of_one_moment_come_in_the_order_they_were_set() -> None:
    deadlines: Deadlines[str] = Deadlines()
    for key in ("b", "a", "c"):
        deadlines.set(key, at(10))
    deadlines.set("b", at(10))
    assert all_due(deadlines, 10) == ["a", "c", "b"]


def test_deadline_that_was_put_off_is_not_due_before() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("session", at(10))
    deadlines.set("session", at(20))
    assert deadlines.next() == 20
    assert all_due(deadlines, 19) == []
    assert all_due(deadlines, 20) == ["session"]


def test_deadline_that_was_brought_forward_is_due_once() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("session", at(20))
    deadlines.set("session", at(10))
    assert all_due(deadlines, 30) == ["session"]
    assert deadlines.next() is None


def test_cancelled_deadline_is_never_due() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("session", at(10))
    deadlines.cancel("session")
    deadlines.cancel("never set")
    assert "session" not in deadlines
    assert all_due(deadlines, 100) == []


def test_stale_entries_do_not_pile_up() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("stays", at(5000))
    for due in range(4000, 0, -1):
        deadlines.set("moves", at(due))
        deadlines.set("goes", at(due))
        deadlines.cancel("goes")
    assert len(deadlines) == 2
    assert len(deadlines._heap) <= 2 * len(deadlines) + STALE_ENTRIES_MAX
    assert all_due(deadlines, 9999) == ["moves", "stays"]


def test_validation_notices_a_deadline_nobody_would_find() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("session", at(10))
    deadlines._heap.clear()
    with pytest.raises(InvariantError, match="session"):
        deadlines.validate()


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 50) | st.none()), max_size=200))
def test_deadlines_behave_like_a_sorted_table(steps: list[tuple[str, int | None]]) -> None:
    deadlines: Deadlines[str] = Deadlines()
    model: dict[str, tuple[int, int]] = {}
    for number, (key, due) in enumerate(steps):
        if due is None:
            deadlines.cancel(key)
            model.pop(key, None)
        else:
            deadlines.set(key, at(due))
            model[key] = (due, number)
        deadlines.validate()
        assert deadlines.next() == (min(model.values())[0] if model else None)
    expected = [key for key, _ in sorted(model.items(), key=lambda item: item[1])]
    assert all_due(deadlines, 100) == expected
