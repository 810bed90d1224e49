"""Any file of a log may rot, shrink or vanish: what is served is what was written, or an error."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.log_testing import DIRECTORY, make_batch, make_disk, make_log, open_log, put

from penstock.model.errors import ApiError, CorruptLogError
from penstock.records.batch import read_header, split_batches
from penstock.records.control import TransactionMarker, build_transaction_marker
from penstock.storage.log import Log
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem

CONFIG = LogConfig(segment_bytes=1_500, index_interval_bytes=200, retention_ms=-1)
EPOCH = slice(12, 16)
"""The leader epoch is outside the checksum; a wrong one is seen only if epochs then go back."""


def written_log(disk: MemoryFileSystem) -> dict[int, bytes]:
    """A closed log of several segments with everything in it; its batches by offset."""
    log = make_log(disk, CONFIG)
    batches = {}
    for number in range(30):
        if number % 5 == 4:
            marker = TransactionMarker(
                is_commit=number % 2 == 0, coordinator_epoch=1, producer_id=8, producer_epoch=0
            )
            batch, is_client = build_transaction_marker(marker, timestamp=1_000 + number), False
        else:
            producer = (8, 0, number // 5 * 12 + number % 5 * 3)
            batch = make_batch(
                *[b"x" * (number * 7 % 90)] * 3,
                timestamp=1_000 + number,
                producer=producer,
                transactional=True,
            )
            is_client = True
        base_offset = put(log, batch, leader_epoch=number // 8, is_client=is_client).base_offset
        batches[base_offset] = bytes(batch)
    log.close()
    return batches


def damage(disk: MemoryFileSystem, path: str, kind: str, part: float, change: int) -> None:
    size = disk.size(path)
    file = disk.open(path)
    position = min(int(part * size), max(0, size - 1))
    if kind == "flip" and size:
        file.write(position, [bytes([file.read(position, 1)[0] ^ change])])
    elif kind == "cut":
        file.truncate(position)
    elif kind == "zeros":
        file.write(position // 512 * 512, [bytes(min(512, size - position // 512 * 512))])
    elif kind == "grow":
        file.write(size, [bytes([change]) * (change * 3)])
    elif kind == "delete":
        disk.unlink(path)


def served(log: Log) -> dict[int, bytes]:
    """Everything that a consumer gets who steps over what it cannot get."""
    found: dict[int, bytes] = {}
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        try:
            piece = log.read(offset, max_bytes=700, end_offset=log.flushed_offset)
            if log.needs_verification(piece):
                log.verify(piece)
            data = piece.read_bytes()
        except CorruptLogError:
            offset += 1
            continue
        assert data, f"nothing served at {offset} of {log}"
        for position, header in split_batches(data):
            found[header.base_offset] = data[position : position + header.size_bytes]
            offset = max(offset, header.next_offset)
    return found


def without_epoch(batch: bytes) -> bytes:
    changed = bytearray(batch)
    changed[EPOCH] = bytes(4)
    return bytes(changed)


@settings(deadline=None, max_examples=300)
@given(
    st.data(),
    st.sampled_from(["flip", "cut", "zeros", "grow", "delete"]),
    st.floats(0, 1),
    st.integers(1, 255),
    st.sampled_from([0, 40, 78]),
    st.booleans(),
)
def test_damaged_file_never_leads_to_wrong_data(
    data: st.DataObject, kind: str, part: float, change: int, recovery_point: int, clean: bool
) -> None:
    disk = make_disk()
    batches = written_log(disk)
    end_offset = max(read_header(batch).next_offset for batch in batches.values())
    assert end_offset == 78
    name = data.draw(st.sampled_from(disk.list_directory(DIRECTORY)))
    damage(disk, f"{DIRECTORY}/{name}", kind, part, change)
    log = open_log(
        disk, CONFIG, recovery_point=recovery_point, clean=clean, sealed_offset=end_offset, tail_bytes=0
    )
    for offset, batch in served(log).items():
        assert without_epoch(batch) == without_epoch(batches[offset])
    if not name.endswith(".log"):
        assert not log.is_offline
        assert served(log) == batches
        starts = dict[int, int]()
        for offset, batch in batches.items():
            starts.setdefault(read_header(batch).leader_epoch, offset)
        assert log.leader_epochs.starts == tuple(starts.items())
        assert log.offset_for_timestamp(1_010) == (sorted(batches)[8] + 2, 1_010)
        producer = log.producers.get(8)
        assert producer is not None
        assert producer.next_sequence == 72
    with suppress(ApiError):
        put(log, make_batch(b"after"), leader_epoch=9)
        log.flush()


def test_reported_damage_keeps_the_log_from_being_written_until_the_report_is_removed() -> None:
    disk = make_disk()
    log = make_log(disk)
    for _ in range(3):
        put(log, make_batch(b"x" * 100))
    log.close()
    path = f"{DIRECTORY}/00000000000000000000.log"
    damage(disk, path, "flip", 0.99, 1)
    assert open_log(disk, recovery_point=3, clean=True, sealed_offset=3).is_offline

    # An unclean start looks only at what lies beyond the recovery point, and sees nothing wrong.
    again = open_log(disk, recovery_point=3, sealed_offset=3)
    assert again.is_offline
    assert again.refusal is not None
    assert "00000000000000000000.corrupt" in again.refusal

    disk.unlink(f"{DIRECTORY}/00000000000000000000.corrupt")
    assert not open_log(disk, recovery_point=3, sealed_offset=3).is_offline
