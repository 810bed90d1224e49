"""``penstock serve`` as a process: its options, its one line of output, its end."""

import json
import os
import platform
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.broker_process import wait_until

from penstock import __version__
from penstock.bench.connection import Connection, parse_address
from penstock.config.broker_keys import BROKER_KEYS
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.describe_cluster import DescribeClusterRequest
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

pytestmark = pytest.mark.slow

READY_PREFIX = "penstock ready on "
STOP_SECONDS_MAX = 20.0


@contextmanager
def serving(
    *words: str, environment: Mapping[str, str] | None = None
) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A broker and its address."""
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("penstock")), "serve", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    with process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line.startswith(READY_PREFIX)
            yield process, line.removeprefix(READY_PREFIX).strip()
        finally:
            process.kill()


@contextmanager
def serving_json(*words: str) -> Iterator["subprocess.Popen[str]"]:
    """A broker that speaks JSON into a pipe, as one that nobody's environment makes speak at once."""
    process = subprocess.Popen(
        [
            str(Path(sys.executable).with_name("penstock")),
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--json",
            *words,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    )
    with process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(2 * STOP_SECONDS_MAX)


def next_document(process: "subprocess.Popen[str]") -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def default_partition_count(address: str) -> int:
    """How many partitions a topic gets that is made by asking for it."""
    with Connection(parse_address(address)) as connection:
        request = MetadataRequest(topics=(MetadataRequestTopic(name="auto"),))
        while not (partitions := connection.call(ApiKey.METADATA, request).topics[0].partitions):
            pass
    return len(partitions)


def known_brokers(address: str) -> list[tuple[int, str, str | None]]:
    """Numbers, addresses and racks."""
    with Connection(parse_address(address)) as connection:
        cluster = connection.call(ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
    return sorted(
        (broker.broker_id, f"{broker.host}:{broker.port}", broker.rack) for broker in cluster.brokers
    )


def test_serve_prints_one_line_and_ends_with_0_when_told_to(tmp_path: Path) -> None:
    with serving("--listen", "127.0.0.1:0", "--data-dir", str(tmp_path / "data")) as (process, address):
        assert address.startswith("127.0.0.1:")
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=STOP_SECONDS_MAX)

    assert (process.returncode, output) == (0, "")
    assert (tmp_path / "data" / "meta.properties").exists()


def test_serve_json_says_in_a_line_where_the_broker_is_and_in_one_where_the_console_is(
    tmp_path: Path,
) -> None:
    with serving_json("--data-dir", str(tmp_path), "-b", "7", "--gateway", "127.0.0.1:0") as process:
        ready = next_document(process)
        assert sorted(ready) == ["address", "cluster", "metrics", "node"]
        with Connection(parse_address(ready["address"])) as connection:
            found = connection.call(ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
        assert (ready["node"], ready["cluster"]) == (7, found.cluster_id)
        with urllib.request.urlopen(f"http://{ready['metrics']}/health/live", timeout=10) as answer:
            assert answer.status == 200
        console = next_document(process)
        with urllib.request.urlopen(console["console"], timeout=10) as answer:
            assert answer.status == 200


def test_serve_json_without_metrics_and_console_says_that_there_are_none(tmp_path: Path) -> None:
    words = ["--data-dir", str(tmp_path), "--no-gateway", "--set", "metrics.listener=off"]
    with serving_json(*words) as process:
        assert next_document(process)["metrics"] is None
        process.terminate()
        assert process.stdout is not None
        assert process.stdout.read() == ""


def test_serve_short_options_are_the_long_ones(tmp_path: Path) -> None:
    config = tmp_path / "broker.properties"
    config.write_text("num.partitions=3\n")
    words = ["-a", "127.0.0.1:0", "-b", "7", "-c", str(config), "-v", "--data-dir", str(tmp_path / "data")]

    with serving(*words) as (_, address):
        with Connection(parse_address(address)) as connection:
            cluster = connection.call(ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
        assert [broker.broker_id for broker in cluster.brokers] == [7]
        assert default_partition_count(address) == 3


def test_serve_asked_for_its_version_prints_it_and_serves_nothing(tmp_path: Path) -> None:
    told = subprocess.run(
        [
            str(Path(sys.executable).with_name("penstock")),
            "serve",
            "-V",
            "--data-dir",
            str(tmp_path / "data"),
        ],
        capture_output=True,
        text=True,
        timeout=STOP_SECONDS_MAX,
        check=False,
    )
    assert (told.returncode, told.stdout) == (0, f"penstock {__version__}\n")
    assert not (tmp_path / "data").exists()


def test_serve_flag_beats_environment_beats_file(tmp_path: Path) -> None:
    config = tmp_path / "broker.yaml"
    config.write_text("num.partitions: 2\nlisteners: 127.0.0.1:0\n")
    base = ["--data-dir", str(tmp_path / "data")]
    environment = {"PENSTOCK_CONFIG": str(config), "PENSTOCK_NUM_PARTITIONS": "3"}

    with serving(*base, "--set", "num.partitions=4", environment=environment) as (_, address):
        assert default_partition_count(address) == 4
    other = ["--data-dir", str(tmp_path / "other")]
    with serving(*other, environment=environment) as (_, address):
        assert default_partition_count(address) == 3


@pytest.mark.skipif(
    "controller.quorum.bootstrap.servers" not in BROKER_KEYS, reason="brokers cannot join each other yet"
)
def test_serve_workers_are_brokers_of_one_cluster_in_the_rack_of_this_machine(tmp_path: Path) -> None:
    words = ["--workers", "2", "--listen", "127.0.0.1:0", "--data-dir", str(tmp_path)]

    with serving(*words) as (process, bootstrap):
        addresses = bootstrap.split(",")
        expected = [(number, each, platform.node()) for number, each in enumerate(addresses, start=1)]
        wait_until(
            lambda: all(known_brokers(address) == expected for address in addresses),
            what="every worker knows every other",
        )
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=3 * STOP_SECONDS_MAX)

    assert (process.returncode, output) == (0, "")
    assert all((tmp_path / f"worker-{number}" / "meta.properties").exists() for number in (1, 2))


def test_serve_workers_json_is_the_line_of_a_whole_cluster(tmp_path: Path) -> None:
    with serving_json("--workers", "2", "--data-dir", str(tmp_path), "--no-gateway") as process:
        ready = next_document(process)
        numbers = [
            next(number for number, each, _ in known_brokers(node["address"]) if each == node["address"])
            for node in ready["nodes"]
        ]

    assert numbers == [1, 2]
    assert ready["bootstrap_servers"].split(",") == [node["address"] for node in ready["nodes"]]
    assert [(node["name"], node["data_dir"]) for node in ready["nodes"]] == [
        (name, str(tmp_path / name)) for name in ("worker-1", "worker-2")
    ]


def test_serve_directory_in_use_exits_with_1_and_says_so(tmp_path: Path) -> None:
    words = ["--listen", "127.0.0.1:0", "--data-dir", str(tmp_path / "data")]

    with serving(*words):
        second = subprocess.run(
            [str(Path(sys.executable).with_name("penstock")), "serve", *words],
            capture_output=True,
            text=True,
            timeout=STOP_SECONDS_MAX,
            check=False,
        )
    assert second.returncode == 1
    assert second.stdout == ""
    assert str(tmp_path / "data") in second.stderr


@pytest.mark.parametrize(
    ("present", "words", "said"),
    [
        ("worker-1", [], "holds the data of several workers; serve it with --workers"),
        ("node-1", [], "holds the data of a whole cluster; start it with `penstock cluster up --dir "),
        ("worker-3", ["--workers", "2"], "holds the data of 3 brokers, not of 2"),
        (".", ["--workers", "2"], "holds the data of a single broker"),
    ],
)
def test_serve_with_other_workers_than_the_data_has_is_refused(
    tmp_path: Path, present: str, words: list[str], said: str
) -> None:
    (tmp_path / present).mkdir(exist_ok=True)
    (tmp_path / present / "meta.properties").touch()

    refused = subprocess.run(
        [str(Path(sys.executable).with_name("penstock")), "serve", "--data-dir", str(tmp_path), *words],
        capture_output=True,
        text=True,
        timeout=STOP_SECONDS_MAX,
        check=False,
    )
    assert refused.returncode != 0
    assert said in refused.stderr
