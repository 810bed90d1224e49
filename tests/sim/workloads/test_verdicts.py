"""How operations end: done, not done, or nobody knows."""

import pytest

from penstock.model.error_codes import ErrorCode
from penstock.sim.workloads.connection import Unanswered
from penstock.sim.workloads.history import Ending, Function, History
from penstock.sim.workloads.verdicts import end_unanswered, ending_of


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        (ErrorCode.NONE, Ending.OK),
        (ErrorCode.ILLEGAL_GENERATION, Ending.FAIL),
        (ErrorCode.PRODUCER_FENCED, Ending.FAIL),
        (ErrorCode.KAFKA_STORAGE_ERROR, Ending.INFO),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, Ending.INFO),
        (ErrorCode.REQUEST_TIMED_OUT, Ending.INFO),
    ],
)
def test_code_says_whether_anything_may_have_happened(code: ErrorCode, ending: Ending) -> None:
    assert ending_of(code) is ending


def test_request_that_never_left_has_failed_and_one_that_did_is_in_doubt() -> None:
    history = History(lambda: 1.0)
    for was_sent, ending in ((False, Ending.FAIL), (True, Ending.INFO)):
        operation = history.begin("p", Function.SEND, "o-0")
        end_unanswered(history, operation, Unanswered("lost", was_sent=was_sent))
        assert operation.ending is ending


def test_operation_that_was_never_ended_is_in_doubt() -> None:
    history = History(lambda: 1.0)
    operation = history.begin("p", Function.SEND, "o-0", value=("a",))
    assert operation.ending is Ending.INFO
    assert "..." in str(operation)
