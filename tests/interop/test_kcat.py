"""kcat: a command line on an older librdkafka."""

import json
import shutil
import subprocess

import pytest
from tests.conftest import UniqueName
from tests.raw_kafka import Connection

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed"),
]

CODECS = {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


def kcat(bootstrap: str, *arguments: str, stdin: str = "") -> str:
    """Run it to its end; what it printed."""
    done = subprocess.run(
        ["kcat", "-b", bootstrap, "-X", "log_level=0", "-m", "10", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def topic(bootstrap: str, unique: UniqueName) -> str:
    name = unique("kcat")
    with Connection(bootstrap) as raw:
        assert raw.create_topic(name, retention_ms="-1") == 0
    return name


@pytest.mark.parametrize("codec", CODECS)
def test_codec_round_trip_keeps_every_line(bootstrap: str, topic: str, codec: str) -> None:
    lines = [f"line {index} " + "x" * 100 for index in range(200)]

    kcat(bootstrap, "-P", "-t", topic, "-z", codec, stdin="\n".join(lines) + "\n")

    assert kcat(bootstrap, "-C", "-t", topic, "-o", "beginning", "-e").splitlines() == lines
    with Connection(bootstrap) as raw:
        assert {batch.codec for batch in raw.fetch_all(topic)} == {CODECS[codec]}


def test_keys_headers_and_offsets_are_printed_as_sent(bootstrap: str, topic: str) -> None:
    kcat(bootstrap, "-P", "-t", topic, "-K", ":", "-H", "a=1", "-H", "b=2", stdin="k1:v1\nk2:v2\n")

    shown = kcat(bootstrap, "-C", "-t", topic, "-o", "beginning", "-e", "-f", "%o %k %s %h\\n")

    assert shown.splitlines() == ["0 k1 v1 a=1,b=2", "1 k2 v2 a=1,b=2"]


def test_reading_starts_at_an_offset_from_either_end(bootstrap: str, topic: str) -> None:
    kcat(bootstrap, "-P", "-t", topic, stdin="".join(f"{index}\n" for index in range(20)))
    assert kcat(bootstrap, "-C", "-t", topic, "-o", "15", "-e").split() == ["15", "16", "17", "18", "19"]
    assert kcat(bootstrap, "-C", "-t", topic, "-o", "-3", "-e").split() == ["17", "18", "19"]
    assert kcat(bootstrap, "-C", "-t", topic, "-o", "beginning", "-c", "2").split() == ["0", "1"]


def test_metadata_lists_broker_topic_and_partition(bootstrap: str, topic: str) -> None:
    listed = json.loads(kcat(bootstrap, "-L", "-J", "-t", topic))
    assert {broker["name"] for broker in listed["brokers"]} == set(bootstrap.split(","))
    (shown,) = listed["topics"]
    assert shown["topic"] == topic
    assert [partition["partition"] for partition in shown["partitions"]] == [0]


def test_offset_is_found_by_timestamp(bootstrap: str, topic: str) -> None:
    kcat(bootstrap, "-P", "-t", topic, stdin="one\n")
    assert kcat(bootstrap, "-Q", "-t", f"{topic}:0:1").strip() == f"{topic} [0] offset 0"
    assert kcat(bootstrap, "-Q", "-t", f"{topic}:0:-1").strip() == f"{topic} [0] offset 1"
