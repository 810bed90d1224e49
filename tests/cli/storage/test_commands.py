"""``penstock storage`` against a real broker and its real files."""

import shutil
from pathlib import Path

import pytest
from tests.broker_process import Server, wait_until
from tests.cli.terminal import Terminal
from tests.conftest import MakeServer, UniqueName

pytestmark = pytest.mark.slow


@pytest.fixture
def lively(terminal: Terminal, unique: UniqueName) -> str:
    """A topic of two partitions with keys, tombstones and compression."""
    name = unique("stored")
    terminal.must("topic", "create", name, "-p", "2")
    lines = "".join(f"key-{number % 3}:{'value' * 20}{number}\n" for number in range(300))
    terminal.must("produce", name, "-k", ":", "--compression", "zstd", stdin=lines)
    return name


def files_of(directory: Path) -> dict[str, tuple[int, int]]:
    """Sizes and times of change of everything below."""
    return {
        str(path.relative_to(directory)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_analyze_over_the_wire_counts_everything(terminal: Terminal, lively: str) -> None:
    (told,) = terminal.must("storage", "analyze", lively, "--json").json()

    assert (told["topic"], told["messages"], told["files"]) == (lively, 300, None)
    assert told["keys"]["distinct"] == 3
    assert told["keys"]["method"] == "exact"
    assert {each["messages"] for each in told["keys"]["top"]} == {100}
    assert told["compression"]["codecs"].keys() == {"zstd"}
    assert told["compression"]["ratio"] > 3
    assert 100 < told["message_bytes"]["p50"] <= told["message_bytes"]["max"] < 130
    assert sum(each["messages"] for each in told["timeline"]["buckets"]) == 300
    assert sum(each["messages"] for each in told["partitions"]) == 300
    assert [each["notes"] for each in told["partitions"]] == [[], []]


def test_analyze_of_a_running_brokers_files_agrees_and_changes_nothing(
    terminal: Terminal, lively: str, server: Server
) -> None:
    if not (server.data_directory / f"{lively}-0").exists():
        pytest.skip("the broker is one of several, with directories of their own")
    before = files_of(server.data_directory)
    words = ["storage", "analyze", lively, "--data-dir", str(server.data_directory)]

    (stored,) = terminal.must(*words, "--json").json()
    (fetched,) = terminal.must("storage", "analyze", lively, "--json").json()
    assert stored["files"]["segments"] == 2
    for name in ("messages", "batch_bytes", "message_bytes", "compression", "keys", "timeline"):
        assert stored[name] == fetched[name]
    after = files_of(server.data_directory)
    assert {name: after[name] for name in before if lively in name} == {
        name: facts for name, facts in before.items() if lively in name
    }


def test_analyze_of_a_topic_prints_partitions_keys_and_times(terminal: Terminal, lively: str) -> None:
    text = terminal.must("storage", "analyze", lively, "--top", "2").output

    assert text.startswith(f"{lively}: 300 messages in 2 partitions; ")
    rows = [line.split() for line in text.splitlines()]
    assert ["all", "300"] in [row[:2] for row in rows]
    assert ["PARTITION", "MEAN", "P50", "P90", "P99", "MAX", "RATIO", "TOMBSTONES"] in rows
    assert ["key-0", "100", "33.3%"] in [row[:3] for row in rows]
    assert not any(row[:1] == ["key-2"] for row in rows)
    assert "Keys: 3 different ones, counted exactly" in text
    assert "█" in text


def test_analyze_of_everything_prints_a_line_for_each_topic(terminal: Terminal, lively: str) -> None:
    lines = terminal.must("storage", "analyze").output.splitlines()

    assert lines[0].split()[:3] == ["TOPIC", "PARTITIONS", "MESSAGES"]
    assert [lively, "2", "300"] in [line.split()[:3] for line in lines]
    assert not any(line.startswith("__") for line in lines)


def test_analyze_of_an_empty_topic_has_no_messages(terminal: Terminal, topic: str) -> None:
    (told,) = terminal.must("storage", "analyze", topic, "--json").json()
    assert (told["messages"], told["timeline"]["buckets"]) == (0, [])

    assert "0 messages in 1 partition;" in terminal.must("storage", "analyze", topic).output


def test_analyze_speaks_of_one_message_as_of_one(terminal: Terminal, topic: str) -> None:
    terminal.must("produce", topic, "-k", ":", stdin="a:1\n")
    assert f"{topic}: 1 message in 1 partition; " in terminal.must("storage", "analyze", topic).output
    terminal.must("produce", topic, stdin="2\n")

    assert "counted exactly; 1 message has none" in terminal.must("storage", "analyze", topic).output


def test_analyze_of_a_missing_topic_fails_with_a_hint(terminal: Terminal, unique: UniqueName) -> None:
    answer = terminal.run("storage", "analyze", unique("missing"))

    assert answer.code == 1
    assert "There is no topic" in answer.errors
    assert "Hint:" in answer.errors


def test_storage_of_a_directory_without_partitions_fails_with_a_hint(
    terminal: Terminal, tmp_path: Path
) -> None:
    answer = terminal.run("storage", "verify", "--data-dir", str(tmp_path))

    assert answer.code == 1
    assert "holds no partitions" in answer.errors


@pytest.mark.parametrize("name", ["node-1", "worker-1"])
@pytest.mark.parametrize("verb", ["analyze", "segments", "verify"])
def test_storage_of_a_directory_of_several_brokers_takes_them_for_no_partitions(
    terminal: Terminal, tmp_path: Path, verb: str, name: str
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "meta.properties").touch()

    answer = terminal.run("storage", verb, "--data-dir", str(tmp_path))
    assert (answer.code, answer.output) == (1, "")
    assert f"{name}, " in answer.errors


def test_storage_of_a_directory_that_is_not_there_is_a_usage_error(
    terminal: Terminal, tmp_path: Path
) -> None:
    answer = terminal.run("storage", "segments", "--data-dir", str(tmp_path / "nowhere"))

    assert answer.code == 2
    assert "There is no directory" in answer.errors
    assert "Hint: Name the directory that a broker was given with --data-dir" in answer.errors


@pytest.fixture
def filled(make_server: MakeServer, terminal: Terminal) -> Server:
    """A broker of its own with a topic of several small segments."""
    server = make_server(is_alone=True)
    words = ["--bootstrap-server", server.bootstrap]
    terminal.must("topic", "create", "orders", "-p", "1", "-c", "segment.bytes=1048576", *words)
    for _ in range(3):
        terminal.must("produce", "orders", *words, stdin=f"{'x' * 1000}\n" * 800)
    wait_until(lambda: len(server.segment_paths("orders")) > 1, what="a second segment")
    return server


def test_segments_and_verify_of_a_stopped_and_a_running_broker(filled: Server, terminal: Terminal) -> None:
    words = ["orders", "--data-dir", str(filled.data_directory)]
    filled.stop()

    listed = terminal.must("storage", "segments", *words, "--json").json()
    assert sum(each["records"] for each in listed) == 2_400
    assert [each["is_newest"] for each in listed] == [False] * (len(listed) - 1) + [True]
    assert listed[0]["last_offset"] + 1 == listed[1]["base_offset"]
    assert "newest" in terminal.must("storage", "segments", *words).output

    (verdict,) = terminal.must("storage", "verify", *words, "--json").json()
    assert (verdict["damage"], verdict["remarks"]) == ([], [])
    assert verdict["index_entries"] > 0
    filled.start()
    assert "sound" in terminal.must("storage", "verify", *words).output


def test_verify_of_a_damaged_copy_exits_with_1_and_repairs_nothing(
    filled: Server, terminal: Terminal, tmp_path: Path
) -> None:
    filled.stop()
    copy = tmp_path / "copy"
    shutil.copytree(filled.data_directory, copy)
    first = sorted((copy / "orders-0").glob("*.log"))[0]
    data = bytearray(first.read_bytes())
    data[len(data) // 2] ^= 1
    first.write_bytes(data)
    before = files_of(copy)

    answer = terminal.run("storage", "verify", "--data-dir", str(copy))
    assert answer.code == 1
    assert "DAMAGED" in answer.output
    assert f"{first}, position" in answer.output
    assert files_of(copy) == before
    (told,) = terminal.must("storage", "analyze", "orders", "--data-dir", str(copy), "--json").json()
    assert "damage (" in told["partitions"][0]["notes"][0]
    assert 0 < told["messages"] < 2_400
