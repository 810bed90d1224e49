"""Waiting for an offset to be passed."""

from penstock.broker.offset_waiters import OffsetWaiters
from penstock.model.error_codes import ErrorCode


def test_waiters_passed_offset_calls_those_below_it_in_order() -> None:
    waiters, called = OffsetWaiters(), []
    for offset in (4, 9, 14):
        waiters.add(offset, lambda code, offset=offset: called.append((offset, code)))  # type: ignore[misc]
    waiters.pass_offset(10)
    assert called == [(4, ErrorCode.NONE), (9, ErrorCode.NONE)]
    assert len(waiters) == 1


def test_waiters_failed_are_all_told_and_forgotten() -> None:
    waiters, called = OffsetWaiters(), []
    waiters.add(4, called.append)
    waiters.add(9, called.append)
    waiters.fail(ErrorCode.KAFKA_STORAGE_ERROR)
    waiters.pass_offset(100)
    assert called == [ErrorCode.KAFKA_STORAGE_ERROR] * 2
