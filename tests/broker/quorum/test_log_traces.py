"""What a damaged metadata log still tells: how far it went and who voted, whatever its batches claim."""

import pytest
from tests.broker.quorum.test_restoring import METADATA, THREE, Machine
from tests.raft.node_driver import voters

from penstock.broker.quorum.log_traces import LogTraces, find_traces
from penstock.metadata.records import FeatureLevelRecord, encode_record
from penstock.raft.control_records import ControlBatches
from penstock.records.batch import stamp
from penstock.records.builder import build_batch
from penstock.records.record import RECORD_BYTES_MIN, NewRecord

COUNT = 50
LAST = COUNT - 1
CHECKED_BYTE = 70
"""Somewhere in a batch's records."""


def batch_at(offset: int) -> bytearray:
    value = encode_record(FeatureLevelRecord(name=f"f{offset}", feature_level=1))
    batch = build_batch([NewRecord(value=value)])
    stamp(batch, offset, 1)
    return batch


def batches() -> list[bytearray]:
    return [batch_at(offset) for offset in range(COUNT)]


def voters_at(offset: int, *numbers: int) -> bytearray:
    batch = bytearray(ControlBatches().voters(voters(*numbers)))
    stamp(batch, offset, 1)
    return batch


def traces(content: list[bytearray], segment_offset: int = 0) -> LogTraces:
    """Of a log that knows nothing of what is in its file."""
    machine = Machine()
    log = machine.open()
    file = machine.disk.open(f"{METADATA}/{segment_offset:020d}.log", create=True)
    file.write(0, [b"".join(content)])
    file.close()
    return find_traces(machine.disk, machine.directory, log)


def test_intact_batches_tell_where_the_log_ended_though_some_are_rotten() -> None:
    content = batches()
    content[10][CHECKED_BYTE] ^= 1
    content[LAST][CHECKED_BYTE] ^= 1
    assert traces(content) == LogTraces(end_offset=LAST, voters=None)


@pytest.mark.parametrize("number", [0, 1, 25, LAST])
@pytest.mark.parametrize("byte", range(8))
def test_wrong_base_offset_is_outvoted_by_the_batches_beside_it(number: int, byte: int) -> None:
    for bit in range(8):
        content = batches()
        content[number][byte] ^= 1 << bit
        assert traces(content).end_offset == COUNT


@pytest.mark.parametrize("bit", [1, 1 << 6, 1 << 24, 1 << 62])
def test_batch_that_stands_alone_is_believed_as_far_as_the_file_has_room(bit: int) -> None:
    content = batches()
    content[LAST - 1][CHECKED_BYTE] ^= 1
    assert traces(content).end_offset == COUNT
    stamp(content[LAST], LAST ^ bit, 1)
    room = len(content[LAST - 1]) // RECORD_BYTES_MIN
    assert COUNT <= traces(content).end_offset <= COUNT - 1 + room


def test_single_batch_of_a_segment_begins_where_the_segment_does() -> None:
    content = [batch_at(1000 ^ (1 << 40))]
    assert traces(content, segment_offset=1000).end_offset == 1001


def test_rotten_batches_between_two_parts_are_counted_by_what_the_second_part_says() -> None:
    content = [*batches()[:10], *(batch_at(30 + number) for number in range(3))]
    content[9][CHECKED_BYTE] ^= 1
    content[11][3] ^= 1
    assert traces(content).end_offset == 33


def test_voters_are_those_of_the_last_entry_that_names_any_whatever_its_offset_claims() -> None:
    content = [*batches()[:4], voters_at(4, 1, 2), batch_at(5), voters_at(6, 1, 2, 3), batch_at(7)]
    content[4][2] ^= 1
    assert traces(content) == LogTraces(end_offset=8, voters=THREE)
