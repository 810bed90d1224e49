"""Files damaged while the broker is down that can be rebuilt from the log: nothing is lost by it."""

import random
import struct

import pytest
from tests.broker_process import Server
from tests.chaos.filled_log import BATCHES, TOPIC, check_intact
from tests.conftest import MakeServer
from tests.raw_kafka import BatchFields, Connection, Record, build_batch, values_batch

pytestmark = pytest.mark.chaos

TORN_TAILS = {
    "half-a-header": values_batch(b"torn")[:30],
    "header-only": values_batch(b"torn" * 100)[:61],
    "cut-payload": build_batch([Record(value=b"torn" * 100)], BatchFields(base_offset=BATCHES))[:-50],
    "wrong-crc": build_batch([Record(value=b"torn")], BatchFields(base_offset=BATCHES, crc=1)),
    "zeros": bytes(4096),
    "noise": random.Random(8).randbytes(777),
    "wrong-offset": build_batch([Record(value=b"torn")], BatchFields(base_offset=7)),
}
DERIVED_FILES = [
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "durable-offsets",
    ".kafka_cleanshutdown",
    f"{TOPIC}-0/leader-epoch-checkpoint",
]
GARBAGE = {
    "empty": b"",
    "text": b"what\nis\nthis\n",
    "huge": b"0\n99999999\n",
    "binary": bytes(range(256)) * 9,
}


@pytest.mark.parametrize("tail", TORN_TAILS)
def test_torn_tail_is_cut_off_and_takes_nothing_acknowledged_along(killed: Server, tail: str) -> None:
    with killed.segment_paths(TOPIC)[-1].open("ab") as file:
        file.write(TORN_TAILS[tail])
    killed.start()
    check_intact(killed)


def test_index_files_that_were_deleted_are_rebuilt(ended: Server) -> None:
    directory = ended.partition_directory(TOPIC)
    removed = [*directory.glob("*.index"), *directory.glob("*.timeindex")]
    assert len(removed) >= 4
    for path in removed:
        path.unlink()
    ended.start()
    check_intact(ended)


@pytest.mark.parametrize("length", [0, 1, 8, 12, 24, 4096, 4097])
def test_index_files_full_of_garbage_are_rebuilt(stopped: Server, length: int) -> None:
    directory = stopped.partition_directory(TOPIC)
    for path in [*directory.glob("*.index"), *directory.glob("*.timeindex")]:
        path.write_bytes(random.Random(path.name).randbytes(length))
    stopped.start()
    check_intact(stopped)


def test_index_whose_entries_point_beyond_the_log_is_rebuilt(ended: Server) -> None:
    entries = b"".join(struct.pack(">ii", number, number * 100_000_000) for number in range(1, 20))
    for path in ended.partition_directory(TOPIC).glob("*.index"):
        path.write_bytes(entries)
    ended.start()
    check_intact(ended)


@pytest.mark.parametrize("content", [*GARBAGE, "missing"])
@pytest.mark.parametrize("name", DERIVED_FILES)
def test_derived_file_that_is_garbage_or_gone_costs_nothing(killed: Server, name: str, content: str) -> None:
    path = killed.data_directory / name
    if content == "missing":
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(GARBAGE[content])
    killed.start()
    check_intact(killed)


def test_all_derived_files_gone_at_once_cost_nothing(ended: Server) -> None:
    directory = ended.partition_directory(TOPIC)
    derived = [ended.data_directory / name for name in DERIVED_FILES]
    for kind in ("*.index", "*.timeindex", "*.snapshot"):
        derived += directory.glob(kind)
    for path in derived:
        path.unlink(missing_ok=True)
    ended.start()
    check_intact(ended)


def test_producer_snapshots_that_are_garbage_do_not_break_idempotence(make_server: MakeServer) -> None:
    server = make_server()
    with Connection(server.bootstrap) as raw:
        assert raw.create_topic(TOPIC, segment_bytes="10000") == 0
        producer_id, epoch = raw.init_producer_id()
        batches = [
            values_batch(bytes(500), producer_id=producer_id, epoch=epoch, sequence=number)
            for number in range(60)
        ]
        for batch in batches:
            assert raw.produce(TOPIC, 0, batch).error_code == 0
    server.stop()
    snapshots = list(server.partition_directory(TOPIC).glob("*.snapshot"))
    assert snapshots
    for path in snapshots:
        path.write_bytes(random.Random(9).randbytes(100))

    server.restart()

    with Connection(server.bootstrap) as raw:
        again = raw.produce(TOPIC, 0, batches[-1])
        assert (again.error_code, again.base_offset) == (0, 59)
        following = values_batch(b"x", producer_id=producer_id, epoch=epoch, sequence=60)
        assert raw.produce(TOPIC, 0, following).base_offset == 60


def test_damage_that_is_mended_once_needs_no_mending_again(killed: Server) -> None:
    """Recovery writes down what it found: the second start after a crash is an ordinary one."""
    with killed.segment_paths(TOPIC)[-1].open("ab") as file:
        file.write(TORN_TAILS["cut-payload"])
    killed.start()
    check_intact(killed)
    killed.kill()
    killed.restart()
    with Connection(killed.bootstrap) as raw:
        assert raw.end_offset(TOPIC) == BATCHES + 1
        assert raw.fetch_values(TOPIC, offset=BATCHES) == [b"next"]
