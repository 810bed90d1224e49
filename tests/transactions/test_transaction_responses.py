"""Denials of whole requests, as the shell needs them too."""

import pytest
from tests.transactions.coordinator_driver import (
    ORDERS,
    PAYMENTS,
    add_request,
    end_request,
    errors_of,
    init_request,
)

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.transactions.responses import refusal
from penstock.wire.messages import describe_transactions, list_transactions
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from penstock.wire.messages.end_txn import EndTxnResponse
from penstock.wire.messages.init_producer_id import InitProducerIdResponse
from penstock.wire.schema import Struct

LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (init_request(), InitProducerIdResponse(error_code=LOADING, producer_id=-1, producer_epoch=-1)),
        (AddOffsetsToTxnRequest(), AddOffsetsToTxnResponse(error_code=LOADING)),
        (end_request((1, 2), True), EndTxnResponse(error_code=LOADING, producer_id=-1, producer_epoch=-1)),
        (
            describe_transactions.DescribeTransactionsRequest(transactional_ids=("a",)),
            describe_transactions.DescribeTransactionsResponse(
                transaction_states=(
                    describe_transactions.TransactionState(error_code=LOADING, transactional_id="a"),
                )
            ),
        ),
        (
            list_transactions.ListTransactionsRequest(),
            list_transactions.ListTransactionsResponse(error_code=LOADING),
        ),
    ],
)
def test_refusal_of_every_request(request_: Struct, expected: Struct) -> None:
    assert refusal(request_, 0, LOADING) == expected


@pytest.mark.parametrize("version", [3, 4])
def test_refusal_of_additions_names_every_partition(version: int) -> None:
    response = refusal(add_request((1, 2), [ORDERS, PAYMENTS], version=version), version, LOADING)
    assert errors_of(response) == {ORDERS: LOADING, PAYMENTS: LOADING}


def test_refusal_in_the_words_of_old_clients() -> None:
    response = refusal(end_request((1, 2), True), 1, ErrorCode.PRODUCER_FENCED)
    assert response == EndTxnResponse(error_code=ErrorCode.INVALID_PRODUCER_EPOCH)


def test_refusal_of_something_else_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="EndTxnResponse is not for"):
        refusal(EndTxnResponse(), 0, LOADING)
