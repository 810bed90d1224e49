"""Messages as frames and batches as entries: what is sent is what arrives, and nonsense is refused."""

from dataclasses import replace
from typing import Any

import pytest
from tests.raft.node_driver import key, voters

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, DecodeError, InvariantError
from penstock.raft.batches import entries_of, stamp_entry
from penstock.raft.control_records import ControlBatches
from penstock.raft.entry import Entry, EntryKind, SnapshotId
from penstock.raft.messages import (
    AppendEntries,
    AppendResponse,
    InstallSnapshot,
    Message,
    ObserveRequest,
    ObserveResponse,
    SnapshotResponse,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from penstock.raft.replica import NOBODY, Endpoint, Voter
from penstock.raft.voters import voter_set
from penstock.raft.wire_form import from_wire, to_wire
from penstock.records.builder import build_batch
from penstock.records.errors import CorruptBatchError
from penstock.records.record import NewRecord
from penstock.sim.raft.frames import through_a_frame
from penstock.wire.api_keys import ApiKey, advertised_versions, is_served
from penstock.wire.messages.raft_install_snapshot import RaftInstallSnapshotRequest
from penstock.wire.schema import replace as replace_struct

ENDPOINT = Endpoint(name="CONTROLLER", host="host", port=9093)
VOTERS = voter_set([Voter(key=key(1), endpoints=(ENDPOINT,)), Voter(key=key(2))])


def stamped(offset: int, term: int, *values: bytes) -> Entry:
    batch = build_batch([NewRecord(value=value) for value in values])
    entry = Entry(offset=offset, end_offset=offset + len(values), term=term, payload=batch)
    stamp_entry(entry)
    return entry


def control(offset: int, term: int, kind: EntryKind) -> Entry:
    batches = ControlBatches()
    payload = batches.voters(VOTERS) if kind is EntryKind.VOTERS else batches.leader_change(key(2), VOTERS)
    named = VOTERS if kind is EntryKind.VOTERS else None
    entry = Entry(offset=offset, end_offset=offset + 1, term=term, payload=payload, kind=kind, voters=named)
    stamp_entry(entry)
    return entry


ENTRIES = (
    stamped(7, 2, b"a", b"b"),
    control(9, 3, EntryKind.LEADER_CHANGE),
    control(10, 3, EntryKind.VOTERS),
    stamped(11, 3, b"c"),
)
ENVELOPE: dict[str, Any] = {"sender": key(1), "target": key(2), "term": 3}
NUMBERED = ENVELOPE | {"sequence": 17}
APPEND = AppendEntries(**NUMBERED, offset=7, previous_term=2, commit_offset=5, entries=ENTRIES)

MESSAGES: list[Message] = [
    VoteRequest(**NUMBERED, last_term=2, end_offset=9, is_pre_vote=True),
    VoteRequest(**NUMBERED, last_term=2, end_offset=9, is_handover=True),
    VoteResponse(**NUMBERED, is_granted=True),
    VoteResponse(**NUMBERED, is_granted=False, is_pre_vote=True),
    APPEND,
    replace(APPEND, entries=()),
    AppendResponse(**NUMBERED, is_accepted=True, offset=12),
    AppendResponse(**NUMBERED, is_accepted=False, offset=4, hint_term=1),
    InstallSnapshot(
        **NUMBERED,
        snapshot_id=SnapshotId(9, 2),
        voters=VOTERS,
        position=5,
        size_bytes=8,
        data=b"abc",
    ),
    SnapshotResponse(**NUMBERED, snapshot_id=SnapshotId(9, 2), position=8, is_installed=True),
    TimeoutNow(**ENVELOPE),
    ObserveRequest(sender=key(4), target=NOBODY, term=0, end_offset=3),
    ObserveResponse(**ENVELOPE, leader=key(3)),
    ObserveResponse(**ENVELOPE, leader=None),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_message_arrives_as_it_was_sent(message: Message) -> None:
    assert through_a_frame(message) == message


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_message_of_another_cluster_is_refused(message: Message) -> None:
    with pytest.raises(ApiError) as caught:
        from_wire(to_wire(message, "ours"), "theirs")
    assert caught.value.code is ErrorCode.INCONSISTENT_CLUSTER_ID


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_negative_numbers_are_refused(message: Message) -> None:
    struct = to_wire(message, "ours")
    numbers = [name for name in type(struct).fields if type(getattr(struct, name)) is int]
    for name in numbers:
        with pytest.raises(DecodeError, match=f"-1 as {name}"):
            from_wire(replace_struct(struct, **{name: -1}), "ours")


def test_damaged_batch_is_refused() -> None:
    entry = stamped(0, 1, b"a")
    assert isinstance(entry.payload, bytearray)
    entry.payload[-1] ^= 1
    with pytest.raises(CorruptBatchError, match="checksum"):
        entries_of(entry.payload)


def test_half_a_batch_is_refused() -> None:
    whole = bytes(stamped(0, 1, b"a").payload)
    with pytest.raises(CorruptBatchError, match="follow the last complete batch"):
        entries_of(whole + whole[:30])


@pytest.mark.parametrize(
    "changes",
    [{"offset": 6}, {"previous_term": 3}, {"term": 2}],
    ids=["a gap", "a term that descends", "a term above the leader's"],
)
def test_entries_that_cannot_follow_are_refused(changes: dict[str, int]) -> None:
    struct = replace_struct(to_wire(APPEND, "ours"), **changes)
    with pytest.raises(DecodeError, match="cannot follow"):
        from_wire(struct, "ours")


def test_a_node_named_twice_among_voters_is_refused() -> None:
    piece = next(each for each in MESSAGES if isinstance(each, InstallSnapshot))
    struct = to_wire(piece, "ours")
    assert isinstance(struct, RaftInstallSnapshotRequest)
    doubled = replace_struct(struct, voters=(struct.voters[0], struct.voters[0]))
    with pytest.raises(DecodeError, match="twice"):
        from_wire(doubled, "ours")


def test_batch_that_cannot_be_changed_cannot_be_stamped() -> None:
    with pytest.raises(InvariantError, match="stamped in place"):
        stamp_entry(Entry(offset=0, end_offset=1, term=1, payload=b"frozen"))


def test_voters_record_has_kafkas_bytes() -> None:
    """Written out by hand: version, two voters with id, directory, endpoints, versions of the protocol."""
    payload = bytes(ControlBatches().voters(VOTERS))
    expected = (
        "0000" + "03"
        "00000001" + "01" * 16 + "02" + "0b" + b"CONTROLLER".hex() + "05" + b"host".hex() + "2385" + "00"
        "0000" + "0001" + "00" + "00"
        "00000002" + "01" * 16 + "01" + "0000" + "0001" + "00" + "00"
        "00"
    )
    assert bytes.fromhex(expected) in payload


def test_leader_change_message_has_kafkas_bytes() -> None:
    payload = bytes(ControlBatches().leader_change(key(2), voters(1)))
    expected = "0001" + "00000002" + "02" + "00000001" + "01" * 16 + "00" + "01" + "00"
    assert bytes.fromhex(expected) in payload


@pytest.mark.parametrize("key", [each for each in ApiKey if each.name.startswith("RAFT_")])
def test_private_apis_are_never_told_to_clients(key: ApiKey) -> None:
    assert key >= 10_000
    assert key not in {row.api_key for row in advertised_versions()}
    assert is_served(key, 0)
