"""``penstock cluster up``: one command, one line, one cluster that comes back."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.broker_process import clean_environment, wait_until

from penstock.bench.connection import Connection, parse_address
from penstock.config.broker_keys import BROKER_KEYS
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.describe_cluster import DescribeClusterRequest

pytestmark = pytest.mark.slow

joins = pytest.mark.skipif(
    "controller.quorum.bootstrap.servers" not in BROKER_KEYS, reason="brokers cannot join each other yet"
)

END_SECONDS_MAX = 60.0
READY_PREFIX = "penstock cluster ready on "


class RunningCluster:
    """A ``penstock cluster up`` that has said that it is ready."""

    def __init__(self, process: "subprocess.Popen[str]", line: str) -> None:
        self._process = process
        self.line = line
        self.code: int | None = None
        self.log = ""

    @property
    def bootstrap(self) -> str:
        return self.line.removeprefix(READY_PREFIX)

    def json(self) -> Any:
        return json.loads(self.line)

    def stop(self) -> int:
        """End it politely; the exit code."""
        self._process.send_signal(signal.SIGTERM)
        rest, self.log = self._process.communicate(timeout=END_SECONDS_MAX)
        assert rest == ""
        return self._process.returncode


@contextmanager
def cluster_up(directory: Path, *words: str) -> Iterator[RunningCluster]:
    """A cluster in ``directory``; gone afterwards, whatever happened."""
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("penstock")), "cluster", "up", "--dir", str(directory), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # As with anybody: what is not written at once stays in a buffer before a pipe.
        env=clean_environment() | {"PYTHONUNBUFFERED": ""},
    )
    with process:
        try:
            assert process.stdout is not None
            yield RunningCluster(process, process.stdout.readline().rstrip("\n"))
        finally:
            process.kill()


def describe(bootstrap: str) -> Any:
    with Connection(parse_address(bootstrap.partition(",")[0])) as connection:
        return connection.call(ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())


def cluster_id(bootstrap: str) -> str:
    found: str = describe(bootstrap).cluster_id
    return found


def wait_until_known(numbers: list[int], *, at: str) -> None:
    """Brokers hear of each other in turn, some a moment later."""
    wait_until(
        lambda: sorted(broker.broker_id for broker in describe(at).brokers) == numbers,
        what=f"the broker at {at} knows {numbers}",
    )


def test_up_prints_one_line_and_ends_with_0_when_told_to(tmp_path: Path) -> None:
    with cluster_up(tmp_path / "cluster", "--nodes", "1") as cluster:
        assert cluster.line.startswith(READY_PREFIX)
        assert cluster_id(cluster.bootstrap)
        assert cluster.stop() == 0

    assert all(line.startswith("node-1 | ") for line in cluster.log.splitlines())
    assert (tmp_path / "cluster" / "node-1" / "meta.properties").exists()


def test_up_again_brings_the_same_cluster_back_on_the_same_port(tmp_path: Path) -> None:
    with cluster_up(tmp_path, "-n", "1") as cluster:
        first = cluster.bootstrap, cluster_id(cluster.bootstrap)
        cluster.stop()
    with cluster_up(tmp_path) as cluster:
        again = cluster.bootstrap, cluster_id(cluster.bootstrap)

    assert again == first


@joins
def test_up_of_three_is_one_cluster_and_comes_back_as_it_was(tmp_path: Path) -> None:
    with cluster_up(tmp_path, "--nodes", "3") as cluster:
        for address in cluster.bootstrap.split(","):
            wait_until_known([1, 2, 3], at=address)
        first = cluster.bootstrap, cluster_id(cluster.bootstrap)
        assert cluster.stop() == 0
    with cluster_up(tmp_path) as cluster:
        assert (cluster.bootstrap, cluster_id(cluster.bootstrap)) == first
        for address in cluster.bootstrap.split(","):
            wait_until_known([1, 2, 3], at=address)
        assert cluster.stop() == 0


@joins
def test_up_with_more_nodes_than_before_lets_the_new_ones_join(tmp_path: Path) -> None:
    with cluster_up(tmp_path, "--nodes", "1") as cluster:
        first = cluster.bootstrap, cluster_id(cluster.bootstrap)
        cluster.stop()
    with cluster_up(tmp_path, "--nodes", "2") as cluster:
        address, added = cluster.bootstrap.split(",")
        assert (address, cluster_id(added)) == first
        wait_until_known([1, 2], at=added)


def test_up_json_is_one_line_that_names_every_process(tmp_path: Path) -> None:
    with cluster_up(tmp_path, "-n", "1", "--json") as cluster:
        (node,) = cluster.json()["nodes"]
        assert node["address"] == cluster.json()["bootstrap_servers"]
        assert (node["name"], node["data_dir"]) == ("node-1", str(tmp_path / "node-1"))
        os.kill(node["pid"], 0)


def test_up_with_log_files_keeps_standard_error_free(tmp_path: Path) -> None:
    with cluster_up(tmp_path, "-n", "1", "--log-files", "--set", "num.partitions=3") as cluster:
        assert cluster.stop() == 0

    assert cluster.log == ""
    assert '"event": "stopped"' in (tmp_path / "node-1.log").read_text()


def test_up_on_a_port_that_is_taken_fails_and_says_so(tmp_path: Path) -> None:
    with cluster_up(tmp_path / "one", "-n", "1") as cluster:
        port = cluster.bootstrap.rpartition(":")[2]
        second = subprocess.run(
            [
                *(str(Path(sys.executable).with_name("penstock")), "cluster", "up"),
                *("--dir", str(tmp_path / "two"), "--port", port, "-n", "1"),
            ],
            capture_output=True,
            text=True,
            timeout=END_SECONDS_MAX,
            env=clean_environment(),
            check=False,
        )

    assert second.returncode == 1
    assert second.stdout == ""
    assert "node-1 ended with code 1 before it was ready." in second.stderr
    assert f"Cannot listen on 127.0.0.1:{port}" in second.stderr


def test_up_over_the_data_of_more_nodes_is_refused(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"node-{number}").mkdir()
        (tmp_path / f"node-{number}" / "meta.properties").touch()

    with cluster_up(tmp_path, "-n", "1") as cluster:
        assert cluster.line == ""
        cluster.stop()
    assert "holds the data of 2 brokers, not of 1" in cluster.log
