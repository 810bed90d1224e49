"""kill -9 in the middle of compacting, over and over: no key ever loses its latest value.

``PENSTOCK_KILL_ROUNDS`` says how often. Some kills come at a random moment, some by failpoint right before a
rename or a flush of compaction's own files.
"""

import json
import random

import pytest
from confluent_kafka.admin import AdminClient
from tests.broker_process import Server, wait_until
from tests.chaos.keyed_writer import KEYS, KeyedWriter, stored_records
from tests.chaos.vitals import KILL_ROUNDS, TRACEBACK
from tests.conftest import MakeServer
from tests.raw_kafka import Connection

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.timeout(900)]

TOPIC = "compacted"
SETTINGS = {"log.cleaner.backoff.ms": 20, "log.cleaner.delete.retention.ms": 100}
SEGMENT_BYTES = 20_000
FAILPOINTS = (
    "rename:kill:path=.cleaned",
    "rename:kill:path=.swap",
    "rename:kill",
    "flush:kill:path=.cleaned",
)


def make_topic(server: Server) -> None:
    with Connection(server.bootstrap) as raw:
        code = raw.create_topic(
            TOPIC,
            cleanup_policy="compact",
            segment_bytes=str(SEGMENT_BYTES),
            min_cleanable_dirty_ratio="0.01",
        )
        assert code == 0


def compactions(server: Server) -> list[dict[str, int]]:
    lines = [line for line in server.stderr_text().splitlines() if '"log compacted"' in line]
    return [entry for entry in map(json.loads, lines) if entry["partition"] == f"{TOPIC}-0"]


def test_killed_while_compacting_no_key_loses_its_latest_value(make_server: MakeServer) -> None:
    server = make_server(SETTINGS)
    make_topic(server)
    dice = random.Random("kill -9 while compacting")
    writer = KeyedWriter(server.bootstrap, TOPIC)
    writer.start()
    for round_number in range(KILL_ROUNDS):
        writer.wait_for_progress(dice.randint(100, 2000))
        server.kill()
        if round_number % 2:
            order = f"{dice.choice(FAILPOINTS)}:after={dice.randint(0, 6)}"
            server.environment["PENSTOCK_FAILPOINTS"] = order
            server.launch()
            assert server.wait_exit(seconds=60) == -9, f"{order} did not strike"
            del server.environment["PENSTOCK_FAILPOINTS"]
        server.restart()
        with Connection(server.bootstrap) as raw:
            writer.check(raw)
    writer.wait_for_progress(1)
    writer.finish()
    assert len(compactions(server)) > 1
    assert server.stop() == 0
    server.restart()
    with Connection(server.bootstrap) as raw:
        writer.check(raw)
    assert TRACEBACK not in server.stderr_text()
    assert "cannot be compacted" not in server.stderr_text()


def test_compacted_topic_holds_little_more_than_its_keys(make_server: MakeServer) -> None:
    server = make_server(SETTINGS)
    make_topic(server)
    writer = KeyedWriter(server.bootstrap, TOPIC)
    writer.start()
    writer.wait_for_progress(2_500)
    writer.finish()
    with Connection(server.bootstrap) as raw:
        # The active segment, which no pass touches, holds the rest.
        wait_until(lambda: writer.check(raw) <= KEYS + SEGMENT_BYTES // 50, what="a compacted log")


def test_topic_deleted_while_it_is_compacted_is_gone(make_server: MakeServer) -> None:
    """Slowed down, so that the deletion finds a pass under way."""
    server = make_server(SETTINGS | {"log.cleaner.io.max.bytes.per.second": 100_000})
    make_topic(server)
    writer = KeyedWriter(server.bootstrap, TOPIC)
    writer.start()
    writer.wait_for_progress(2_000)
    writer.finish()
    directory = server.partition_directory(TOPIC)
    wait_until(lambda: list(directory.glob("*.cleaned")), what="a pass that writes")
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    admin.delete_topics([TOPIC])[TOPIC].result(30)
    make_topic(server)
    with Connection(server.bootstrap) as raw:
        assert list(stored_records(raw, TOPIC)) == []
    assert not list(directory.glob("*.cleaned"))
    assert server.stop() == 0
    assert TRACEBACK not in server.stderr_text()


def test_stop_while_compacting_is_clean_and_quick(make_server: MakeServer) -> None:
    server = make_server(SETTINGS | {"log.cleaner.io.max.bytes.per.second": 100_000})
    make_topic(server)
    writer = KeyedWriter(server.bootstrap, TOPIC)
    writer.start()
    writer.wait_for_progress(2_000)
    writer.finish()
    directory = server.partition_directory(TOPIC)
    wait_until(lambda: list(directory.glob("*.cleaned")), what="a pass that writes")
    assert server.stop(seconds=10) == 0
    assert not list(directory.glob("*.cleaned"))
    server.settings.pop("log.cleaner.io.max.bytes.per.second")
    server.restart()
    assert '"last_stop_was_clean": true' in server.stderr_tail()
    with Connection(server.bootstrap) as raw:
        writer.check(raw)
