"""What repeats itself is counted, and told."""

from penstock.broker.logging.repetitions import KINDS_MAX, OTHERS, Kind, LeftOut, Repetitions

FAILS = Kind("broker.peers", "peer fails", 20)


def test_first_of_a_window_are_admitted_and_the_rest_counted() -> None:
    repetitions = Repetitions(count_max=2, window_ms=1_000)

    assert [repetitions.admits(FAILS, now) for now in (0, 1, 2, 3)] == [True, True, False, False]
    assert repetitions.take_left_out(999) == []
    assert repetitions.take_left_out(1_000) == [LeftOut(FAILS, 2)]
    assert repetitions.take_left_out(2_000) == []


def test_next_window_begins_anew_and_keeps_the_count_of_the_last() -> None:
    repetitions = Repetitions(count_max=1, window_ms=1_000)
    for now in (0, 1, 1_500):
        repetitions.admits(FAILS, now)

    assert repetitions.take_left_out(1_500) == [LeftOut(FAILS, 1)]


def test_kinds_do_not_count_for_each_other() -> None:
    repetitions = Repetitions(count_max=1, window_ms=1_000)

    assert repetitions.admits(FAILS, 0)
    assert repetitions.admits(FAILS._replace(event="peer answers"), 0)


def test_kinds_beyond_the_bound_share_one_window() -> None:
    repetitions = Repetitions(count_max=1, window_ms=1_000)
    for number in range(KINDS_MAX):
        assert repetitions.admits(Kind("c", f"event {number}", 20), 0)

    assert repetitions.admits(Kind("c", "one more", 20), 0)
    assert not repetitions.admits(Kind("c", "and another", 20), 0)
    assert repetitions.take_left_out(1_000) == [LeftOut(OTHERS, 1)]
