"""Waiting for an offset to be passed."""

from penstock.broker.offset_waiters import OffsetWaiters
from penstock.model.error_codes import ErrorCode


class Recorder:
    """Remembers how it was settled, in a list shared with others."""

    def __init__(self, name: str, told: list[tuple[str, ErrorCode]]) -> None:
        self._name = name
        self._told = told

    def settle(self, code: ErrorCode) -> None:
        self._told.append((self._name, code))


def test_waiters_passed_offset_settles_those_below_it_in_order() -> None:
    waiters = OffsetWaiters()
    told: list[tuple[str, ErrorCode]] = []
    for offset in (4, 9, 14):
        waiters.add(offset, Recorder(str(offset), told))
    waiters.pass_offset(10)
    assert told == [("4", ErrorCode.NONE), ("9", ErrorCode.NONE)]
    assert len(waiters) == 1


def test_waiter_for_what_was_appended_before_is_settled_before_the_others() -> None:
    waiters = OffsetWaiters()
    told: list[tuple[str, ErrorCode]] = []
    for offset in (4, 9, 14):
        waiters.add(offset, Recorder(str(offset), told))
    waiters.add(4, Recorder("the same once more", told))
    waiters.pass_offset(5)
    assert [name for name, _ in told] == ["4", "the same once more"]
    waiters.pass_offset(15)
    assert [name for name, _ in told[2:]] == ["9", "14"]


def test_waiters_failed_are_all_told_and_forgotten() -> None:
    waiters = OffsetWaiters()
    told: list[tuple[str, ErrorCode]] = []
    waiters.add(4, Recorder("a", told))
    waiters.add(9, Recorder("b", told))
    waiters.fail(ErrorCode.KAFKA_STORAGE_ERROR)
    waiters.pass_offset(100)
    assert told == [("a", ErrorCode.KAFKA_STORAGE_ERROR), ("b", ErrorCode.KAFKA_STORAGE_ERROR)]
