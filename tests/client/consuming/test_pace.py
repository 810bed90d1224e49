"""How often somebody looks at the clock."""

from penstock.client.consuming.pace import MOST, QUICK_SECONDS, Pace


def test_pace_doubles_while_the_caller_is_quick_and_falls_back_when_not() -> None:
    pace = Pace()
    counts = [pace.count]
    for _ in range(8):
        pace.now()
        counts.append(pace.count)
    assert counts == [1, 2, 4, 8, 16, 32, 64, MOST, MOST]
    pace._last -= 2 * QUICK_SECONDS
    pace.now()
    assert pace.count == 1


def test_pace_has_the_bounds_it_was_given() -> None:
    pace = Pace(most=4, quick_seconds=60)
    for _ in range(3):
        pace._last -= 30
        pace.now()
    assert pace.count == 4
    pace._last -= 61
    pace.now()
    assert pace.count == 1


def test_time_in_which_messages_were_waited_for_is_not_the_callers() -> None:
    pace = Pace()
    pace.now()
    pace._last -= 2 * QUICK_SECONDS
    pace.go_on()
    pace.now()
    assert pace.count == 4
