"""Damage that cannot be mended by one broker alone: it is reported, and never served as good data."""

import random
import shutil
import time
from pathlib import Path

import pytest
from tests.broker_process import Server, ServerFailedError, wait_until
from tests.chaos.filled_log import BATCHES, BYSTANDER, TOPIC, check_intact, fill, value_of
from tests.conftest import MakeServer
from tests.raw_kafka import Connection, stored_batches, values_batch

from penstock.model.error_codes import ErrorCode

pytestmark = pytest.mark.chaos

HEADER_BYTES = {
    "base-offset": 7,
    "length-high": 8,
    "length-low": 11,
    "leader-epoch": 12,
    "magic": 16,
    "crc": 17,
    "attributes": 22,
    "last-offset-delta": 26,
    "count": 60,
}
"""Base offset, length, epoch and magic lie outside the CRC: they need checks of their own."""


def flip_bit(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 0x10
    path.write_bytes(data)


def batch_position(path: Path, index: int) -> int:
    """Where a segment's batch begins; all are of one size."""
    count = len(list(stored_batches(path.read_bytes())))
    return path.stat().st_size // count * index


def served_records(raw: Connection, offset: int) -> tuple[int, list[tuple[int, bytes | None]]]:
    """The error code and the records of one fetch."""
    answer = raw.fetch(TOPIC, 0, offset)
    assert all(batch.crc_is_right for batch in stored_batches(answer.records)), "a bad batch was served"
    pairs = [pair for batch in stored_batches(answer.records) for pair in batch.values()]
    return answer.error_code, pairs


@pytest.mark.parametrize("segment", [0, -1], ids=["closed-segment", "active-segment"])
def test_flipped_bit_is_reported_and_never_served_as_good_data(ended: Server, segment: int) -> None:
    path = ended.segment_paths(TOPIC)[segment]
    bad_offset = int(path.stem) + 5
    flip_bit(path, batch_position(path, 5) + 300)

    ended.start()

    with Connection(ended.bootstrap) as raw:
        _, good = served_records(raw, 0)
        assert good == [(number, value_of(number)) for number in range(len(good))]
        assert len(good) <= bad_offset
        assert served_records(raw, bad_offset)[0] != 0
        assert served_records(raw, bad_offset)[1] == []
        assert raw.fetch_values(BYSTANDER) == [b"safe"]
        assert raw.produce(BYSTANDER, 0, values_batch(b"more")).error_code == 0
    assert "is damaged" in ended.stderr_text()
    assert f"{TOPIC}-0" in ended.stderr_text()


@pytest.mark.parametrize("field", HEADER_BYTES)
def test_flipped_bit_in_a_batch_header_is_never_served_as_good_data(ended: Server, field: str) -> None:
    path = ended.segment_paths(TOPIC)[0]
    flip_bit(path, batch_position(path, 5) + HEADER_BYTES[field])

    ended.start()

    with Connection(ended.bootstrap) as raw:
        for offset in (0, 5, 6):
            error, served = served_records(raw, offset)
            wanted = [(number, value_of(number)) for number in range(offset, offset + len(served))]
            assert served == wanted, "other records than were written"
            assert error != 0 or served, "neither records nor an error"
        error, served = served_records(raw, 5)
        assert error != 0 or field == "leader-epoch", "the damaged batch was served"


def test_last_acknowledged_batch_that_rotted_is_no_torn_tail(stopped: Server) -> None:
    """Cutting it off quietly would lose an acknowledged record."""
    path = stopped.segment_paths(TOPIC)[-1]
    flip_bit(path, path.stat().st_size - 100)

    stopped.start()

    with Connection(stopped.bootstrap) as raw:
        error, served = served_records(raw, BATCHES - 1)
        assert served == []
        assert error != 0
    assert "is damaged" in stopped.stderr_text()


def test_last_batch_that_rotted_after_it_was_sealed_is_no_torn_tail(make_server: MakeServer) -> None:
    """Without a clean stop only the seal can tell the two apart, about a second after the flush."""
    server = make_server()
    fill(server)
    filled_at = time.time_ns()
    seal = server.data_directory / "durable-offsets"
    wait_until(lambda: seal.exists() and seal.stat().st_mtime_ns > filled_at, what="the seal")
    server.kill()
    path = server.segment_paths(TOPIC)[-1]
    flip_bit(path, path.stat().st_size - 100)

    server.restart()

    with Connection(server.bootstrap) as raw:
        assert served_records(raw, BATCHES - 1) == (ErrorCode.KAFKA_STORAGE_ERROR, [])
    assert "is damaged" in server.stderr_text()


def test_damaged_partition_refuses_new_records_instead_of_hiding_the_hole(ended: Server) -> None:
    path = ended.segment_paths(TOPIC)[-1]
    flip_bit(path, batch_position(path, 2) + 200)
    ended.start()
    with Connection(ended.bootstrap) as raw:
        answer = raw.produce(TOPIC, 0, values_batch(b"over the hole"))
        if answer.error_code == 0:
            assert answer.base_offset == BATCHES, "offsets of lost records were given to new ones"
    ended.kill()
    ended.restart()
    with Connection(ended.bootstrap) as raw:
        assert served_records(raw, int(path.stem) + 2)[0] != 0, "the second start forgot the damage"


def test_metadata_log_with_a_torn_tail_keeps_every_topic(killed: Server) -> None:
    (log,) = killed.data_directory.glob("__cluster_metadata-0/*.log")
    with log.open("ab") as file:
        file.write(random.Random(10).randbytes(100))
    killed.start()
    check_intact(killed)


def test_metadata_log_damaged_in_the_middle_stops_the_start_and_deletes_nothing(ended: Server) -> None:
    (log,) = ended.data_directory.glob("__cluster_metadata-0/*.log")
    flip_bit(log, log.stat().st_size // 2)
    before = sorted(path.name for path in ended.partition_directory(TOPIC).glob("*.log"))

    with pytest.raises(ServerFailedError, match="before it was ready"):
        ended.start()

    assert sorted(path.name for path in ended.partition_directory(TOPIC).glob("*.log")) == before
    assert "__cluster_metadata" in ended.stderr_text()


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage", b"version=1\nnode.id=7\ncluster.id=AAAAAAAAAAAAAAAAAAAAAA\n"],
    ids=["empty", "garbage", "another-node"],
)
def test_identity_that_does_not_fit_stops_the_start(stopped: Server, content: bytes) -> None:
    (stopped.data_directory / "meta.properties").write_bytes(content)
    with pytest.raises(ServerFailedError, match="ended with 1 before it was ready"):
        stopped.start()
    assert "meta.properties" in stopped.stderr_text()


def test_partition_directory_that_is_gone_is_reported_not_invented(ended: Server) -> None:
    """A missing directory of a known topic must not silently become an empty log at offset zero."""
    shutil.rmtree(ended.partition_directory(TOPIC))

    ended.start()

    with Connection(ended.bootstrap) as raw:
        assert raw.fetch(TOPIC, 0, BATCHES - 1).error_code != 0
        assert raw.fetch_values(BYSTANDER) == [b"safe"]
    assert f"{TOPIC}-0" in ended.stderr_text()


def test_unknown_directory_is_set_aside_never_deleted(ended: Server) -> None:
    stray = ended.data_directory / "stray-topic-0"
    shutil.copytree(ended.partition_directory(TOPIC), stray)
    sizes = {path.name: path.stat().st_size for path in stray.glob("*.log")}

    ended.start()

    check_intact(ended)
    (kept,) = ended.data_directory.glob("stray-topic-0*")
    assert {path.name: path.stat().st_size for path in kept.glob("*.log")} == sizes
