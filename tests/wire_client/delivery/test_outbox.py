"""What is sent when, and what answers mean: the machine alone, with made-up time."""

from collections.abc import Mapping

import pytest

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire_client.delivery.batch import Batch
from penstock.wire_client.delivery.failure import DeliveryError
from penstock.wire_client.delivery.outbox import Outbox, Shipment
from penstock.wire_client.delivery.settings import IN_FLIGHT_MAX, DeliverySettings

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
LEADERS = {A0: 1, A1: 1}
SETTINGS = DeliverySettings(
    pause_ms=10, pause_ms_max=40, delivery_timeout_ms=1_000, request_bytes_max=100, buffer_bytes_max=50
)


def batch(data: bytes, partition: TopicPartition = A0) -> Batch:
    return Batch(partition=partition, data=data, record_count=1)


def fresh(*batches: Batch) -> Outbox:
    outbox = Outbox(SETTINGS)
    for each in batches:
        outbox.add(each, 0)
    return outbox


def filled(*batches: Batch) -> Outbox:
    """An outbox whose producer is known to both partitions."""
    outbox = fresh(batch(b"first"), batch(b"first", A1))
    for shipment in sent(outbox):
        answer(outbox, shipment)
    for each in batches:
        outbox.add(each, 0)
    return outbox


def sent(
    outbox: Outbox,
    now_ms: int = 0,
    leaders: Mapping[TopicPartition, int] = LEADERS,
    free: tuple[int, ...] = (1, 2),
) -> list[Shipment]:
    return list(outbox.next_requests(leaders, free, now_ms))


def contents(shipments: list[Shipment]) -> list[list[bytes]]:
    return [[parcel.batch.data for parcel in shipment.parcels] for shipment in shipments]


def answer(outbox: Outbox, shipment: Shipment, code: int = ErrorCode.NONE, now_ms: int = 0) -> None:
    outbox.answered(shipment, {parcel.batch.partition: code for parcel in shipment.parcels}, now_ms)


def test_a_request_has_one_batch_of_each_partition() -> None:
    outbox = filled(batch(b"1"), batch(b"2"), batch(b"3", A1))

    assert contents(sent(outbox)) == [[b"1", b"3"]]
    assert contents(sent(outbox)) == [[b"2"]]
    assert sent(outbox) == []


def test_the_first_batch_of_a_partition_travels_alone() -> None:
    outbox = fresh(batch(b"1"), batch(b"2"), batch(b"3"))

    (first,) = sent(outbox)
    assert sent(outbox) == []
    answer(outbox, first)
    assert contents([*sent(outbox), *sent(outbox)]) == [[b"2"], [b"3"]]


def test_a_request_holds_no_more_bytes_than_allowed_but_one_batch_of_any_size() -> None:
    outbox = filled(batch(b"x" * 300), batch(b"y" * 60, A1))

    assert contents(sent(outbox)) == [[b"x" * 300]]
    assert contents(sent(outbox)) == [[b"y" * 60]]


def test_no_more_batches_of_a_partition_are_under_way_than_brokers_recognise() -> None:
    outbox = filled(*(batch(bytes([number])) for number in range(IN_FLIGHT_MAX + 1)))

    shipments = [shipment for _ in range(IN_FLIGHT_MAX + 1) for shipment in sent(outbox)]
    assert len(shipments) == IN_FLIGHT_MAX
    answer(outbox, shipments[0])
    assert contents(sent(outbox)) == [[bytes([IN_FLIGHT_MAX])]]


def test_the_buffer_is_full_until_enough_is_acknowledged() -> None:
    outbox = filled(batch(b"x" * 50))

    assert outbox.is_full
    (shipment,) = sent(outbox)
    answer(outbox, shipment)
    assert (outbox.is_full, outbox.is_empty) == (False, True)


def test_a_failed_batch_and_those_behind_it_are_sent_again_in_order_after_a_pause() -> None:
    outbox = filled(batch(b"1"), batch(b"2"), batch(b"3"))
    first, second = (*sent(outbox), *sent(outbox))

    answer(outbox, first, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert outbox.needs_leaders
    assert sent(outbox, now_ms=5) == [], "the lane is held until all answers are there"
    answer(outbox, second, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, now_ms=6)
    assert sent(outbox, now_ms=9) == []
    assert outbox.wakes_at_ms() == 10
    assert contents([*sent(outbox, 10), *sent(outbox, 10), *sent(outbox, 10)]) == [[b"1"], [b"2"], [b"3"]]


def test_a_batch_that_arrived_before_its_predecessor_is_not_sent_again() -> None:
    outbox = filled(batch(b"1"), batch(b"2"))
    first, second = (*sent(outbox), *sent(outbox))

    answer(outbox, second)
    answer(outbox, first, ErrorCode.REQUEST_TIMED_OUT)
    (again,) = sent(outbox, now_ms=10)
    answer(outbox, again, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
    assert outbox.is_empty


def test_pauses_grow_up_to_a_limit_and_begin_anew_after_success() -> None:
    outbox, now = filled(batch(b"1")), 0
    pauses = []
    for _ in range(4):
        (shipment,) = sent(outbox, now)
        answer(outbox, shipment, ErrorCode.NOT_ENOUGH_REPLICAS, now)
        pauses.append((outbox.wakes_at_ms() or 0) - now)
        now += pauses[-1]
    assert pauses == [10, 20, 40, 40]

    (shipment,) = sent(outbox, now)
    answer(outbox, shipment, now_ms=now)
    outbox.add(batch(b"2"), now)
    (shipment,) = sent(outbox, now)
    answer(outbox, shipment, ErrorCode.NOT_ENOUGH_REPLICAS, now)
    assert outbox.wakes_at_ms() == now + 10


def test_a_lost_connection_is_a_failure_of_all_that_was_on_it() -> None:
    outbox = filled(batch(b"1"), batch(b"2", A1))
    (shipment,) = sent(outbox)

    outbox.lost(shipment, 0)
    assert contents(sent(outbox, 10, {A0: 2, A1: 1})) == [[b"2"], [b"1"]]


def test_a_partition_without_a_leader_asks_for_one() -> None:
    outbox = filled(batch(b"1"))
    outbox.needs_leaders = False

    assert sent(outbox, leaders={A0: -1}) == []
    assert outbox.needs_leaders


def test_a_leader_that_is_busy_gets_nothing_more() -> None:
    outbox = filled(batch(b"1"))

    assert sent(outbox, free=(2,)) == []
    assert contents(sent(outbox, free=(1,))) == [[b"1"]]


def test_a_gap_with_nothing_before_it_is_a_failure() -> None:
    outbox = filled(batch(b"1"))
    (shipment,) = sent(outbox)

    with pytest.raises(
        DeliveryError, match=r"topic 'a', partition 0: .*unclean leader election.*OUT_OF_ORDER"
    ):
        answer(outbox, shipment, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (ErrorCode.MESSAGE_TOO_LARGE, "max.message.bytes"),
        (ErrorCode.INVALID_PRODUCER_EPOCH, "same transactional id"),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Allow this user"),
        (ErrorCode.UNKNOWN_SERVER_ERROR, "broker's log"),
    ],
)
def test_what_does_not_pass_by_itself_fails_at_once_and_says_what_to_do(code: ErrorCode, remedy: str) -> None:
    outbox = filled(batch(b"1"))
    (shipment,) = sent(outbox)

    with pytest.raises(DeliveryError, match=remedy) as caught:
        answer(outbox, shipment, code)
    assert (caught.value.partition, caught.value.code) == (A0, code)


def test_a_batch_is_given_up_when_its_time_is_over_with_the_last_answer_to_it() -> None:
    outbox = filled(batch(b"1"))
    (shipment,) = sent(outbox)
    answer(outbox, shipment, ErrorCode.NOT_ENOUGH_REPLICAS, now_ms=990)

    with pytest.raises(DeliveryError, match=r"min.insync.replicas.* tried for 1 s .*NOT_ENOUGH_REPLICAS"):
        sent(outbox, now_ms=1_000)


def test_a_batch_that_nobody_answered_is_given_up_too() -> None:
    outbox = filled(batch(b"1"))

    with pytest.raises(DeliveryError, match=r"delivery.timeout.ms.*NETWORK_EXCEPTION"):
        sent(outbox, now_ms=1_000, leaders={})
