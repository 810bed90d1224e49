"""The log of a real process: its files, its topic, and what it does when they are not wanted."""

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from tests.broker_process import Server, wait_until
from tests.conftest import MakeServer

from penstock.client.logs.entry import FoundEntry
from penstock.client.logs.query import LogQuery
from penstock.client.logs.topic import LogTopic
from penstock.model.names import LOGS_TOPIC
from penstock.storage.flush_failures import EXIT_CODE

WITH_TOPIC = {"server.log.topic.enable": True}

pytestmark = pytest.mark.slow


def entries_of(directory: Path) -> list[dict[str, Any]]:
    paths = sorted(directory.glob("penstock*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def said(server: Server) -> list[FoundEntry]:
    with LogTopic(server.bootstrap) as topic:
        return topic.search(LogQuery()).entries()


def topics(server: Server) -> set[str]:
    return set(AdminClient({"bootstrap.servers": server.bootstrap}).list_topics(timeout=10).topics)


def test_process_keeps_its_log_in_files_from_beginning_to_end(make_server: MakeServer) -> None:
    server = make_server(is_alone=True)
    server.stop()
    entries = entries_of(server.data_directory / "logs")

    assert {each["node"] for each in entries} == {1}
    events = [each["event"] for each in entries]
    assert {"leads the quorum", "started"} <= set(events)
    assert events[-2:] == ["stopping", "stopped"]


def test_next_start_finds_nothing_strange_in_the_directory(make_server: MakeServer) -> None:
    server = make_server(is_alone=True)
    server.stop()
    server.restart()

    assert "moved aside" not in server.stderr_text()
    assert '"last_stop_was_clean": true' in server.stderr_text()


def test_files_may_be_elsewhere_or_not_at_all(make_server: MakeServer, tmp_path: Path) -> None:
    elsewhere = make_server({"server.log.dir": str(tmp_path / "elsewhere")}, is_alone=True)
    nowhere = make_server({"server.log.file.enable": False}, is_alone=True)
    for server in (elsewhere, nowhere):
        server.stop()
        assert not (server.data_directory / "logs").exists()

    assert entries_of(tmp_path / "elsewhere")[-1]["event"] == "stopped"


def test_second_process_on_the_same_directory_leaves_the_files_alone(make_server: MakeServer) -> None:
    server = make_server(is_alone=True)
    second = make_server(data_directory=server.data_directory, start=False, is_alone=True)
    second.launch()
    assert second.wait_exit() == 1

    assert "cannot run" in second.stderr_text()
    assert "cannot run" not in [each["event"] for each in entries_of(server.data_directory / "logs")]


def test_topic_has_everything_since_the_process_began(make_server: MakeServer) -> None:
    server = make_server(WITH_TOPIC, is_alone=True)
    wait_until(lambda: LOGS_TOPIC in topics(server), what="the topic is made")
    wait_until(lambda: said(server), what="the first entries are fed")
    entries = said(server)

    assert entries[0].event == "asks whether it would be elected"
    assert entries[0].fields["cause"] == "nothing was heard from a leader"
    assert {"leads the quorum", "started"} <= {each.event for each in entries}


def test_topic_is_not_made_where_it_is_not_wanted(make_server: MakeServer) -> None:
    assert LOGS_TOPIC not in topics(make_server(is_alone=True))


def test_clients_cannot_write_what_brokers_are_to_have_said(make_server: MakeServer) -> None:
    server = make_server(WITH_TOPIC, is_alone=True)
    wait_until(lambda: LOGS_TOPIC in topics(server), what="the topic is made")
    errors: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": server.bootstrap, "enable.idempotence": False, "log_level": 0})
    producer.produce(
        LOGS_TOPIC, b'{"event": "all is well"}', on_delivery=lambda error, _: errors.append(error)
    )
    producer.flush(15)

    (error,) = errors
    assert error is not None
    assert error.code() == KafkaError.TOPIC_EXCEPTION


def test_failed_flush_is_in_the_file_though_the_process_ends_at_once(make_server: MakeServer) -> None:
    order = "flush:error=EIO:path=orders-0"
    server = make_server(environment={"PENSTOCK_FAILPOINTS": order}, is_alone=True)
    admin = AdminClient({"bootstrap.servers": server.bootstrap, "log_level": 0})
    admin.create_topics([NewTopic("orders", 1, 1)])
    assert server.wait_exit() == EXIT_CODE

    last = entries_of(server.data_directory / "logs")[-1]
    assert (last["level"], last["event"]) == ("critical", "flush failed, ending now")
