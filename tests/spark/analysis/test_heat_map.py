"""Heat maps: dates while they are few, days of the week afterwards."""

from penstock.spark.analysis.heat_map import DAYS_MAX, WEEKDAYS, heat_map, is_weekly

DAY_MS = 24 * 3_600_000


def test_days_between_the_first_and_the_last_are_all_there() -> None:
    made = heat_map({(20_000, 3): 7, (20_002, 23): 1}, weekly=False)

    assert made.days == ("2024-10-04", "2024-10-05", "2024-10-06")
    assert made.counts[0][3] == made.largest == 7
    assert sum(made.counts[1]) == 0
    assert made.counts[2][23] == 1


def test_a_week_has_seven_days() -> None:
    made = heat_map({(0, 0): 5, (6, 12): 2}, weekly=True)

    assert made.days == WEEKDAYS
    assert (made.counts[0][0], made.counts[6][12]) == (5, 2)


def test_days_beyond_the_calendar_have_numbers() -> None:
    assert heat_map({(10**8, 0): 1}, weekly=False).days == ("day 100000000",)


def test_without_times_there_is_no_map() -> None:
    made = heat_map({}, weekly=False)
    assert (made.days, made.largest, made.as_json()) == ((), 0, {"days": []})


def test_long_times_are_weekly() -> None:
    assert not is_weekly(0, DAYS_MAX * DAY_MS - 1)
    assert is_weekly(0, DAYS_MAX * DAY_MS)
