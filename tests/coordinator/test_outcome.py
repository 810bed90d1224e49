import pytest

from penstock.coordinator.outcome import (
    NOTHING,
    CoordinatorRecord,
    Effect,
    Outcome,
    ProducerEpoch,
    Reply,
    answer,
)
from penstock.model.errors import InvariantError
from penstock.wire.messages.init_producer_id import InitProducerIdResponse

RECORD = CoordinatorRecord(key=b"key", value=b"value")
TOMBSTONE = CoordinatorRecord(key=b"key", value=None)
PRODUCER = ProducerEpoch(producer_id=7, producer_epoch=1)
RESPONSE = InitProducerIdResponse()


def test_sum_of_outcomes_keeps_their_order() -> None:
    first = Outcome(records=(RECORD,)) + answer(1, RESPONSE)
    both = first + Outcome(records=(TOMBSTONE,), effects=(Effect(),)) + answer(2, RESPONSE)
    assert both.records == (RECORD, TOMBSTONE)
    assert [reply.token for reply in both.replies] == [1, 2]
    assert len(both.effects) == 1


def test_nothing_adds_nothing() -> None:
    outcome = answer(1, RESPONSE)
    assert outcome + NOTHING is outcome
    assert NOTHING + outcome is outcome
    assert outcome.replies == (Reply(token=1, response=RESPONSE),)


def test_transaction_of_one_part_is_the_transaction_of_the_sum() -> None:
    outcome = Outcome(records=(RECORD,), transaction=PRODUCER) + answer(1, RESPONSE)
    assert outcome.transaction == PRODUCER


def test_records_inside_and_outside_of_a_transaction_cannot_be_added() -> None:
    with pytest.raises(InvariantError, match="transaction"):
        Outcome(records=(RECORD,), transaction=PRODUCER) + Outcome(records=(RECORD,))
