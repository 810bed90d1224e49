"""Entries and the record batches they are: raw bytes become entries, entries get their place written in.

The machine asks for nothing of this; whoever feeds it from sockets and files does.
"""

from penstock.model.errors import InvariantError
from penstock.raft.control_records import read_voters
from penstock.raft.entry import Entry, EntryKind
from penstock.records.batch import BatchHeader, Buffer, crc_matches, split_batches, stamp
from penstock.records.control import ControlType, decode_control_record
from penstock.records.errors import CorruptBatchError


def entries_of(records: Buffer) -> tuple[Entry, ...]:
    """The entries in a run of stamped batches, each checked against its checksum; without copies."""
    view = memoryview(records)
    entries, end = [], 0
    for position, header in split_batches(view):
        if not crc_matches(view, header, position):
            raise CorruptBatchError(f"Batch at offset {header.base_offset} fails its checksum.")
        end = position + header.size_bytes
        entries.append(_entry_of(view[position:end], header))
    if end != len(view):
        raise CorruptBatchError(f"{len(view) - end} bytes follow the last complete batch.")
    return tuple(entries)


def stamp_entry(entry: Entry) -> None:
    """Write an entry's offset and term into its batch; to be done before it is sent or written."""
    if isinstance(entry.payload, bytes):
        raise InvariantError(f"the batch at offset {entry.offset} cannot be stamped in place")
    stamp(entry.payload, entry.offset, entry.term)


def _entry_of(batch: memoryview, header: BatchHeader) -> Entry:
    kind, voters = EntryKind.DATA, None
    if header.is_control:
        control_type, record = decode_control_record(batch)
        if control_type is ControlType.LEADER_CHANGE:
            kind = EntryKind.LEADER_CHANGE
        elif control_type is ControlType.KRAFT_VOTERS:
            kind, voters = EntryKind.VOTERS, read_voters(record.value or b"")
    return Entry(
        offset=header.base_offset,
        end_offset=header.next_offset,
        term=header.leader_epoch,
        payload=batch,
        kind=kind,
        voters=voters,
    )
