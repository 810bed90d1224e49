"""AddPartitionsToTxn and AddOffsetsToTxn, sentence by sentence (protocol notes, section 5.3)."""

import pytest
from tests.transactions.coordinator_driver import (
    NAME,
    ORDERS,
    PAYMENTS,
    Coordinator,
    Identity,
    add_request,
    errors_of,
)

from penstock.coordinator.partitioning import partition_for
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import Millis, TopicPartition
from penstock.transactions.events import AddPartitionsReceived
from penstock.transactions.state import TransactionState
from penstock.transactions.version import TransactionVersion
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTransaction,
)
from penstock.wire.schema import Struct

CLIENT, LEADER = 3, 5
VERSIONS = [CLIENT, LEADER]


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


def verify(coordinator: Coordinator, identity: Identity, *partitions: TopicPartition, version: int) -> Struct:
    request = add_request(identity, partitions, version=version, verify_only=True)
    return coordinator.ask(request, version)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("state", [state for state in TransactionState if state.is_at_rest])
def test_first_partition_opens_the_transaction(
    coordinator: Coordinator, state: TransactionState, version: int
) -> None:
    identity = coordinator.put_in_state(state)
    coordinator.pass_time(100)
    assert coordinator.add(identity, ORDERS, version=version) is ErrorCode.NONE
    assert coordinator.current.state is TransactionState.ONGOING
    assert coordinator.current.partitions == {ORDERS}
    assert coordinator.current.start_timestamp == coordinator.now


@pytest.mark.parametrize("version", VERSIONS)
def test_more_partitions_keep_the_start(coordinator: Coordinator, version: int) -> None:
    identity = coordinator.put_in_state(TransactionState.ONGOING)
    begun = coordinator.now
    coordinator.pass_time(100)
    assert coordinator.add(identity, PAYMENTS, version=version) is ErrorCode.NONE
    assert coordinator.current.partitions == {ORDERS, PAYMENTS}
    assert coordinator.current.start_timestamp == begun
    assert coordinator.current.last_update_timestamp == coordinator.now


@pytest.mark.parametrize("version", VERSIONS)
def test_partition_that_is_in_is_answered_and_not_written_again(
    coordinator: Coordinator, version: int
) -> None:
    identity = coordinator.put_in_state(TransactionState.ONGOING)
    written = len(coordinator.log)
    assert coordinator.add(identity, ORDERS, version=version) is ErrorCode.NONE
    assert len(coordinator.log) == written


def test_partition_that_is_in_by_an_uncommitted_record_is_not_answered_before_that_is_committed(
    coordinator: Coordinator,
) -> None:
    identity = coordinator.initialised()
    coordinator.is_committing = False
    first = coordinator.submit(add_request(identity, [ORDERS]), CLIENT)
    again = coordinator.submit(add_request(identity, [ORDERS]), CLIENT)
    assert not {first, again} & coordinator.replies.keys()
    coordinator.commit()
    assert {first, again} <= coordinator.replies.keys()


def test_version_of_the_request_decides_the_protocol(coordinator: Coordinator) -> None:
    identity = coordinator.initialised()
    coordinator.add(identity, ORDERS, version=CLIENT)
    coordinator.add(identity, PAYMENTS, version=LEADER)
    versions = [value.transaction_version for value in coordinator.values(start=1) if value is not None]
    assert versions == [TransactionVersion.TV0, TransactionVersion.TV2]


@pytest.mark.parametrize("version", VERSIONS)
def test_unknown_id_has_no_producer(coordinator: Coordinator, version: int) -> None:
    assert coordinator.add((0, 0), version=version) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("version", VERSIONS)
def test_empty_name_is_refused(coordinator: Coordinator, version: int) -> None:
    assert coordinator.add((0, 0), name="", version=version) is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("version", VERSIONS)
def test_wrong_producer_id_comes_before_wrong_epoch(coordinator: Coordinator, version: int) -> None:
    producer_id, epoch = coordinator.put_in_state(TransactionState.PREPARE_COMMIT)
    wrong_id, wrong_epoch = (producer_id + 1, epoch + 1), (producer_id, epoch + 1)
    assert coordinator.add(wrong_id, version=version) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert coordinator.add(wrong_epoch, version=version) is ErrorCode.PRODUCER_FENCED
    assert coordinator.add((producer_id, epoch), version=version) is ErrorCode.CONCURRENT_TRANSACTIONS


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("state", [TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT])
def test_decided_transaction_must_be_completed_first(
    coordinator: Coordinator, state: TransactionState, version: int
) -> None:
    identity = coordinator.put_in_state(state)
    assert coordinator.add(identity, PAYMENTS, version=version) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert coordinator.current.partitions == {ORDERS}


def test_owner_of_the_producer_id_to_come_waits_for_the_completion(coordinator: Coordinator) -> None:
    identity = coordinator.raise_epoch_to(32766)
    coordinator.add(identity, version=LEADER)
    code, next_identity = coordinator.end(identity, is_commit=True, version=5)
    assert (code, next_identity) == (ErrorCode.NONE, (1, 0))
    assert coordinator.add(next_identity, version=LEADER) is ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.write_markers()
    assert coordinator.add(next_identity, version=LEADER) is ErrorCode.NONE
    assert coordinator.add(identity, version=LEADER) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize(
    ("version", "expected"),
    [(1, ErrorCode.INVALID_PRODUCER_EPOCH), (2, ErrorCode.PRODUCER_FENCED)],
)
def test_clients_before_version_2_are_told_of_an_invalid_epoch(
    coordinator: Coordinator, version: int, expected: ErrorCode
) -> None:
    producer_id, _ = coordinator.initialised()
    assert coordinator.add((producer_id, 8), version=version) is expected
    assert coordinator.add_offsets((producer_id, 8), version=version) is expected


@pytest.mark.parametrize("version", VERSIONS)
def test_one_partition_that_cannot_be_added_keeps_out_all(coordinator: Coordinator, version: int) -> None:
    identity = coordinator.initialised()
    request = add_request(identity, [ORDERS, PAYMENTS], version=version)
    refused = {PAYMENTS: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    coordinator.handle(
        AddPartitionsReceived(token=900, request=request, api_version=version, refused=refused)
    )
    assert errors_of(coordinator.replies[900]) == {
        ORDERS: ErrorCode.OPERATION_NOT_ATTEMPTED,
        PAYMENTS: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert coordinator.current.state is TransactionState.EMPTY


def test_more_partitions_than_the_limit_are_refused(
    coordinator: Coordinator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.transactions.add_partitions.PARTITIONS_PER_TRANSACTION_MAX", 1)
    identity = coordinator.put_in_state(TransactionState.ONGOING)
    assert coordinator.add(identity, PAYMENTS) is ErrorCode.POLICY_VIOLATION
    assert coordinator.add(identity, ORDERS) is ErrorCode.NONE


def test_clock_that_went_back_does_not_turn_back_what_is_written(coordinator: Coordinator) -> None:
    identity = coordinator.initialised()
    written = coordinator.current.last_update_timestamp
    coordinator.now = Millis(written - 500)
    coordinator.add(identity, ORDERS)
    assert coordinator.current.last_update_timestamp == written


# Many transactions in one request.


def test_each_transaction_of_a_batch_has_its_own_answer(coordinator: Coordinator) -> None:
    one, two = coordinator.initialised(), coordinator.initialised(name="two")
    good = add_request(one, [ORDERS], version=LEADER).transactions
    bad = add_request((two[0], 9), [PAYMENTS], "two", version=LEADER).transactions
    response = coordinator.ask(AddPartitionsToTxnRequest(transactions=(*good, *bad)), LEADER)
    assert isinstance(response, AddPartitionsToTxnResponse)
    assert [result.transactional_id for result in response.results_by_transaction] == [NAME, "two"]
    assert errors_of(response) == {ORDERS: ErrorCode.NONE, PAYMENTS: ErrorCode.PRODUCER_FENCED}
    assert response.error_code == ErrorCode.NONE


def test_transaction_that_comes_twice_in_a_batch_gets_all_its_partitions(coordinator: Coordinator) -> None:
    identity = coordinator.initialised()
    transactions: list[AddPartitionsToTxnTransaction] = []
    for partition in (ORDERS, PAYMENTS):
        transactions += add_request(identity, [partition], version=LEADER).transactions
    coordinator.ask(AddPartitionsToTxnRequest(transactions=tuple(transactions)), LEADER)
    assert coordinator.current.partitions == {ORDERS, PAYMENTS}


def test_empty_batch_gets_an_empty_answer(coordinator: Coordinator) -> None:
    response = coordinator.ask(AddPartitionsToTxnRequest(), LEADER)
    assert response == AddPartitionsToTxnResponse()


# Verification (KIP-890, part 1).


def test_verification_tells_which_partitions_are_in_and_adds_none(coordinator: Coordinator) -> None:
    identity = coordinator.put_in_state(TransactionState.ONGOING)
    assert errors_of(verify(coordinator, identity, ORDERS, PAYMENTS, version=5)) == {
        ORDERS: ErrorCode.NONE,
        PAYMENTS: ErrorCode.TRANSACTION_ABORTABLE,
    }
    assert coordinator.current.partitions == {ORDERS}


def test_verification_before_version_5_knows_no_abortable_error(coordinator: Coordinator) -> None:
    identity = coordinator.put_in_state(TransactionState.ONGOING)
    found = errors_of(verify(coordinator, identity, PAYMENTS, version=4))
    assert found == {PAYMENTS: ErrorCode.INVALID_TXN_STATE}


@pytest.mark.parametrize("state", [state for state in TransactionState if state.is_at_rest])
def test_verification_without_a_transaction_finds_nothing(
    coordinator: Coordinator, state: TransactionState
) -> None:
    identity = coordinator.put_in_state(state)
    found = errors_of(verify(coordinator, identity, ORDERS, version=5))
    assert found == {ORDERS: ErrorCode.TRANSACTION_ABORTABLE}


def test_verification_is_only_for_the_owner_of_an_undecided_transaction(coordinator: Coordinator) -> None:
    producer_id, epoch = coordinator.put_in_state(TransactionState.PREPARE_ABORT)
    for identity, expected in [
        ((producer_id + 5, epoch), ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ((producer_id, epoch + 1), ErrorCode.PRODUCER_FENCED),
        ((producer_id, epoch), ErrorCode.CONCURRENT_TRANSACTIONS),
    ]:
        assert errors_of(verify(coordinator, identity, ORDERS, version=5)) == {ORDERS: expected}


def test_late_write_of_an_aborted_transaction_is_recognised(coordinator: Coordinator) -> None:
    identity = coordinator.put_in_state(TransactionState.ONGOING)
    coordinator.pass_time(70_000)
    coordinator.write_markers()
    found = errors_of(verify(coordinator, identity, ORDERS, version=5))
    assert found == {ORDERS: ErrorCode.PRODUCER_FENCED}


# AddOffsetsToTxn.


def test_offsets_of_a_group_add_the_partition_that_keeps_them(coordinator: Coordinator) -> None:
    identity = coordinator.initialised()
    assert coordinator.add_offsets(identity, "readers") is ErrorCode.NONE
    expected = TopicPartition("__consumer_offsets", partition_for("readers", 50))
    assert coordinator.current.partitions == {expected}
    assert coordinator.current.state is TransactionState.ONGOING
    written = len(coordinator.log)
    assert coordinator.add_offsets(identity, "readers") is ErrorCode.NONE
    assert len(coordinator.log) == written


def test_offsets_are_added_under_the_rules_of_partitions(coordinator: Coordinator) -> None:
    assert coordinator.add_offsets((0, 0)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    producer_id, epoch = coordinator.put_in_state(TransactionState.PREPARE_COMMIT)
    assert coordinator.add_offsets((producer_id + 1, epoch)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert coordinator.add_offsets((producer_id, epoch + 1)) is ErrorCode.PRODUCER_FENCED
    assert coordinator.add_offsets((producer_id, epoch)) is ErrorCode.CONCURRENT_TRANSACTIONS
