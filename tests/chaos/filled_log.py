"""A broker's directory with known content, to be damaged in many ways: filled once, copied for every test."""

import random
import shutil
from pathlib import Path

from tests.broker_process import Server
from tests.raw_kafka import BatchFields, Connection, Record, build_batch, stored_batches, values_batch

TOPIC = "damaged"
BYSTANDER = "bystander"
BATCHES = 120
RECORD_BYTES = 1000
SEGMENT_BYTES = 50_000
BASE_TIMESTAMP = 1_700_000_000_000


def value_of(number: int) -> bytes:
    """What stands at an offset."""
    return b"%06d" % number + random.Random(number).randbytes(RECORD_BYTES)


def fill(server: Server) -> None:
    """One-record batches over several segments, a second apart, and a second topic that nobody harms."""
    segment_bytes = str(SEGMENT_BYTES)
    with Connection(server.bootstrap) as raw:
        for topic in (TOPIC, BYSTANDER):
            error = raw.create_topic(
                topic, segment_bytes=segment_bytes, retention_ms="-1", index_interval_bytes="1000"
            )
            assert error == 0
        for number in range(BATCHES):
            fields = BatchFields(base_timestamp=BASE_TIMESTAMP + 1000 * number)
            batch = build_batch([Record(value=value_of(number))], fields)
            assert raw.produce(TOPIC, 0, batch).base_offset == number
        assert raw.produce(BYSTANDER, 0, values_batch(b"safe")).error_code == 0
    assert len(server.segment_paths(TOPIC)) > 2, "the tests want closed segments too"


class FilledDirectories:
    """The same content twice: as a clean stop left it, and as SIGKILL did."""

    def __init__(self, root: Path) -> None:
        self._root = root
        for ending in ("stopped", "killed"):
            server = Server(root / ending).start()
            try:
                fill(server)
                if ending == "stopped":
                    assert server.stop() == 0
                else:
                    server.kill()
            finally:
                server.close()

    def copy_to(self, directory: Path, *, ending: str) -> Server:
        """A server on a copy, not started."""
        server = Server(directory)
        shutil.copytree(self._root / ending / "data", server.data_directory)
        return server


def check_intact(server: Server) -> None:
    """All records are there and can be found by offset and by time; new ones follow."""
    with Connection(server.bootstrap) as raw:
        assert raw.fetch_values(TOPIC) == [value_of(number) for number in range(BATCHES)]
        for offset in (0, 1, 47, 48, 49, 50, BATCHES - 1):
            first = next(stored_batches(raw.fetch(TOPIC, 0, offset, max_bytes=1).records))
            assert first.base_offset == offset
        for number in (0, 1, 60, BATCHES - 1):
            assert raw.end_offset(TOPIC, timestamp=BASE_TIMESTAMP + 1000 * number - 500) == number
        assert raw.end_offset(TOPIC, timestamp=BASE_TIMESTAMP + 1000 * BATCHES) == -1
        assert raw.produce(TOPIC, 0, values_batch(b"next")).base_offset == BATCHES
        assert raw.fetch_values(TOPIC, offset=BATCHES) == [b"next"]
        assert raw.fetch_values(BYSTANDER) == [b"safe"]
