import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.log_testing import make_batch

from penstock.records.batch import SEQUENCE_MAX, read_header
from penstock.records.checksum import crc32c
from penstock.records.control import TransactionMarker
from penstock.storage.producer_snapshot import decode_snapshot, encode_snapshot, snapshot_path
from penstock.storage.producer_state import ProducerStates


def some_states() -> ProducerStates:
    states = ProducerStates()
    states.apply(read_header(make_batch(b"a", b"b", timestamp=50, producer=(7, 2, 3))), 100)
    states.apply(read_header(make_batch(b"c", producer=(9, 0, 0), transactional=True)), 102)
    return states


def described(states: ProducerStates) -> list[tuple[object, ...]]:
    return [
        (
            p.producer_id,
            p.epoch,
            p.last_batch,
            p.next_sequence,
            p.coordinator_epoch,
            p.transaction_first_offset,
        )
        for p in states
    ]


def test_bytes_are_kafka_s() -> None:
    states = ProducerStates()
    states.apply(read_header(make_batch(b"a", b"b", timestamp=50, producer=(7, 2, 3))), 100)
    body = "000000010000000000000007000200000004000000000000006500000001"
    body += "0000000000000033ffffffffffffffffffffffff"
    expected = bytes.fromhex("0001") + crc32c(bytes.fromhex(body)).to_bytes(4, "big") + bytes.fromhex(body)
    assert encode_snapshot(states) == expected


def test_states_survive_with_their_newest_batch() -> None:
    states, restored = some_states(), ProducerStates()
    assert decode_snapshot(encode_snapshot(states), restored)
    assert described(restored) == described(states)
    assert restored.first_unstable_offset == 102


def test_wrapped_batch_survives() -> None:
    states, restored = ProducerStates(), ProducerStates()
    states.apply(read_header(make_batch(b"a", b"b", b"c", producer=(7, 0, SEQUENCE_MAX))), 0)
    assert decode_snapshot(encode_snapshot(states), restored)
    assert (
        restored.check(read_header(make_batch(b"a", b"b", b"c", producer=(7, 0, SEQUENCE_MAX)))) is not None
    )


def test_producer_known_only_by_a_marker_survives() -> None:
    states, restored = ProducerStates(), ProducerStates()
    marker = TransactionMarker(is_commit=True, coordinator_epoch=4, producer_id=7, producer_epoch=1)
    states.apply_marker(marker, offset=3, timestamp=9)
    assert decode_snapshot(encode_snapshot(states), restored)
    assert described(restored) == described(states)


def test_open_transactions_come_back_in_the_order_of_their_offsets() -> None:
    states, restored = ProducerStates(), ProducerStates()
    states.apply(read_header(make_batch(b"a", producer=(1, 0, 0), transactional=True)), 0)
    states.apply(read_header(make_batch(b"a", producer=(2, 0, 0), transactional=True)), 5)
    states.apply(read_header(make_batch(b"a", producer=(1, 0, 1), transactional=True)), 9)
    assert decode_snapshot(encode_snapshot(states), restored)
    assert restored.first_unstable_offset == 0


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_changed_byte_is_noticed_and_nothing_is_taken_over(position: int, change: int) -> None:
    data = bytearray(encode_snapshot(some_states()))
    data[position % len(data)] ^= change
    restored = ProducerStates()
    assert not decode_snapshot(bytes(data), restored)
    assert len(restored) == 0


@pytest.mark.parametrize("length", [0, 5, 9, 40, -1])
def test_cut_file_is_refused(length: int) -> None:
    assert not decode_snapshot(encode_snapshot(some_states())[:length], ProducerStates())


def test_name_carries_the_offset_in_twenty_digits() -> None:
    assert snapshot_path("/data/t-0", 42) == "/data/t-0/00000000000000000042.snapshot"
