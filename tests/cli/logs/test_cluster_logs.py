"""What a cluster of real processes has to say of itself when things go wrong."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from tests.broker_process import Server, clean_environment, penstock_command, wait_until
from tests.cluster_processes import ADMIN_SECONDS, ProcessCluster

from penstock.model.names import LOGS_TOPIC

TOPIC = "orders"
FOUND_SECONDS_MAX = 5.0
COMMAND_SECONDS_MAX = 30.0
QUIET_SECONDS = 4.0
"""Several tries of a feed that fails."""

UNFED = "entries cannot be fed to the log topic"

pytestmark = [pytest.mark.slow, pytest.mark.chaos]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessCluster]:
    directory = tmp_path_factory.mktemp("logging-cluster")
    # One partition, so that all brokers but one have to send what they say to another.
    settings = {"server.log.topic.enable": True, "server.log.topic.num.partitions": 1}
    made = ProcessCluster(directory, settings=settings)
    try:
        made.start()
        made.admin.create_topics([NewTopic(TOPIC, 3, 3)])[TOPIC].result(ADMIN_SECONDS)
        wait_until(lambda: log_topic_is_everywhere(made), what="three replicas of the log topic", seconds=60)
        yield made
    finally:
        made.close()


def log_topic_is_everywhere(cluster: ProcessCluster) -> bool:
    topic = cluster.metadata().topics.get(LOGS_TOPIC)
    return topic is not None and all(len(each.isrs) == 3 for each in topic.partitions.values())


def search(servers: Sequence[Server], *words: str) -> list[dict[str, Any]]:
    """What ``penstock logs search`` finds, asked of these brokers."""
    bootstrap = ",".join(server.known_address for server in servers)
    answer = subprocess.run(
        [*penstock_command(), "logs", "search", *words, "--json", "--bootstrap-server", bootstrap],
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS_MAX,
        env=clean_environment(),
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return [json.loads(line) for line in answer.stdout.splitlines()]


def log_lines(server: Server) -> list[dict[str, Any]]:
    path: Path = server.data_directory / "logs" / "penstock.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def set_message_bytes_max(cluster: ProcessCluster, byte_count: int) -> None:
    """How large a batch the log topic takes."""
    entry = ConfigEntry("max.message.bytes", str(byte_count), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, LOGS_TOPIC, incremental_configs=[entry])
    for future in cluster.admin.incremental_alter_configs([resource]).values():
        future.result(ADMIN_SECONDS)


def talk_nonsense(server: Server) -> None:
    """A broker says when it hangs up on somebody who speaks another protocol."""
    with socket.create_connection((server.host, server.port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        connection.recv(1)


def speakers(cluster: ProcessCluster) -> set[int]:
    return {each["node"] for each in search(cluster.servers, "--event", "started")}


def has_noticed(server: Server) -> bool:
    return UNFED in [each["event"] for each in log_lines(server)]


def is_about_logs(entry: dict[str, Any]) -> bool:
    return entry["component"].startswith("broker.logging") or any(
        word in json.dumps(entry) for word in (LOGS_TOPIC, '"lane": "logs"')
    )


def test_every_broker_is_heard_in_one_place(cluster: ProcessCluster) -> None:
    wait_until(lambda: speakers(cluster) == {1, 2, 3}, what="all three have said it", every_seconds=0.3)


def test_failing_log_topic_does_not_make_more_logs(cluster: ProcessCluster) -> None:
    """It takes nothing from brokers that do not lead it, as nothing is small enough for it."""
    others = [server for server in cluster.servers if server is not cluster.leader_of(LOGS_TOPIC)]
    set_message_bytes_max(cluster, 1)
    for server in others:
        talk_nonsense(server)
        wait_until(partial(has_noticed, server), what="the feed has noticed")
    before = [len(log_lines(server)) for server in others]
    time.sleep(QUIET_SECONDS)
    for server, count in zip(others, before, strict=True):
        assert not list(filter(is_about_logs, log_lines(server)[count:]))

    set_message_bytes_max(cluster, 1024 * 1024)
    wait_until(
        lambda: len(search(others, "connection closed", "--since", "5m")) >= len(others),
        what="what was said meanwhile has been fed",
        every_seconds=0.3,
        seconds=30,
    )


def test_election_after_a_kill_is_found_with_its_cause_within_seconds(cluster: ProcessCluster) -> None:
    dead = cluster.partition(TOPIC, 0).leader
    victim = cluster.server_of(dead)
    others = [server for server in cluster.servers if server is not victim]
    killed_at = time.time()
    victim.kill()
    words = ("leader elected", "--since", f"@{round(killed_at * 1000)}", "--field", f"partition={TOPIC}-0")
    found: list[dict[str, Any]] = []
    while not found and time.time() < killed_at + COMMAND_SECONDS_MAX:
        found = search(others, *words)
    seconds = time.time() - killed_at

    assert found, "the election is nowhere"
    assert found[0]["cause"].startswith(f"broker {dead} was fenced: its connection broke")
    assert seconds < FOUND_SECONDS_MAX, f"found after {seconds:.1f} s"
    (fenced,) = search(others, "--event", "broker fenced", "--since", "1m", "--field", f"broker={dead}")
    assert (fenced["level"], fenced["broker"]) == ("warning", dead)
