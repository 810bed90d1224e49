"""Topic names that would be paths elsewhere: refused, and nothing outside the log directory is touched."""

from pathlib import Path

import pytest
from tests.broker_process import Server
from tests.chaos.vitals import check_pulse
from tests.conftest import UniqueName
from tests.raw_kafka import METADATA, Connection, Reader, array, string, values_batch

from penstock.model.error_codes import ErrorCode

pytestmark = pytest.mark.chaos

EVIL_NAMES = [
    "",
    ".",
    "..",
    "/",
    "a/b",
    "../escape",
    "../../escape",
    "/etc/passwd",
    "a\0b",
    "a\nb",
    "a b",
    "a\\b",
    "ünï",
    "․․",
    "-\x1b[31m",
    "x" * 250,
    "%2e%2e%2f",
    "a:b",
    "a*",
]


def tree(root: Path) -> set[str]:
    """Every path below, as far as names go."""
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def metadata_error(client: Connection, name: str, *, may_create: bool) -> int:
    """What Metadata version 4 says of one topic."""
    reader: Reader = client.request(METADATA, 4, array([string(name)]) + bytes([may_create]))
    reader.number("i")
    for _ in range(reader.count()):
        reader.number("i")
        reader.string()
        reader.number("i")
        reader.string()
    reader.string()
    reader.number("i")
    assert reader.count() == 1
    return reader.number("h")


@pytest.mark.parametrize("name", EVIL_NAMES, ids=[ascii(name)[1:14] for name in EVIL_NAMES])
def test_evil_topic_name_is_refused_by_every_api_and_leaves_no_trace(
    victim: Server, client: Connection, name: str
) -> None:
    check_pulse(victim)
    before = tree(victim.directory)

    assert client.create_topic(name) == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert metadata_error(client, name, may_create=True) == ErrorCode.INVALID_TOPIC_EXCEPTION
    produced = client.produce(name, 0, values_batch(b"x"))
    assert produced.error_code in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION)
    fetched = client.fetch(name, 0, 0)
    assert fetched.error_code in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION)

    assert tree(victim.directory) == before


@pytest.mark.parametrize("name", ["x" * 249, "CON", "...", "-", "_", "a.b_c-D9", "-rf"])
def test_odd_but_legal_name_works(client: Connection, name: str) -> None:
    assert client.create_topic(name) == 0
    assert client.produce(name, 0, values_batch(b"x")).error_code == 0
    assert client.fetch_values(name) == [b"x"]


def test_name_that_differs_only_by_dot_and_underscore_is_refused(
    client: Connection, unique: UniqueName
) -> None:
    """They would be one in metrics."""
    name = unique("a.b")
    assert client.create_topic(name) == 0
    assert client.create_topic(name.replace("a.b", "a_b")) == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_metadata_log_cannot_be_written_or_replaced_by_clients(client: Connection) -> None:
    assert client.create_topic("__cluster_metadata") != 0
    assert client.produce("__cluster_metadata", 0, values_batch(b"x")).error_code != 0
