"""How a broker process begins, ends, freezes and refuses to begin."""

import json
import os
import stat
import subprocess
import threading
import time

import pytest
from tests.broker_process import Server, ServerFailedError, penstock_command
from tests.chaos.vitals import TRACEBACK, check_pulse
from tests.chaos.writers import (
    IN_FLIGHT,
    LibrdkafkaWriter,
    PipelinedWriter,
    Writer,
    check_stored,
    wait_for_progress,
)
from tests.conftest import MakeServer
from tests.raw_kafka import API_VERSIONS, Connection, request_frame, string, values_batch

pytestmark = pytest.mark.chaos

CLEAN_MARKER = ".kafka_cleanshutdown"
TOPIC = "orders"


def test_stdout_has_exactly_one_line(make_server: MakeServer) -> None:
    server = make_server(start=False)
    process = server.launch()
    assert process.stdout is not None
    first = process.stdout.readline()
    assert first.startswith(b"penstock ready on 127.0.0.1:")
    process.terminate()
    assert process.stdout.read() == b""
    assert server.wait_exit() == 0


def test_sigterm_under_load_ends_cleanly_and_loses_nothing(make_server: MakeServer) -> None:
    server = make_server()
    with Connection(server.bootstrap) as raw:
        assert raw.create_topic(TOPIC) == 0
        assert raw.create_topic("once", partitions=2) == 0
    writers: list[Writer] = [
        PipelinedWriter(server.bootstrap, TOPIC, acks=-1, is_idempotent=True),
        LibrdkafkaWriter(server.bootstrap, "once", partitions=2, acks="all", is_idempotent=True),
    ]
    for writer in writers:
        writer.start()
    for _ in range(3):
        wait_for_progress(writers, 100)
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 8
        assert (server.data_directory / CLEAN_MARKER).exists()
        server.restart()
        assert not (server.data_directory / CLEAN_MARKER).exists()
    for writer in writers:
        writer.finish()
    check_stored(server.bootstrap, writers)
    assert TRACEBACK not in server.stderr_text()


def test_parked_fetch_does_not_delay_the_end(make_server: MakeServer) -> None:
    server = make_server()
    with Connection(server.bootstrap, timeout=40) as parked:
        assert parked.create_topic(TOPIC) == 0
        waiting = threading.Thread(target=fetch_quietly, args=(parked,), daemon=True)
        waiting.start()
        check_pulse(server)
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 10
        waiting.join(10)
        assert not waiting.is_alive()


def fetch_quietly(connection: Connection) -> None:
    try:
        connection.fetch(TOPIC, 0, 0, wait_ms=30_000)
    except ConnectionError:
        return


def test_sigint_ends_cleanly_too(make_server: MakeServer) -> None:
    server = make_server()
    os.kill(server.pid, 2)
    assert server.wait_exit() == 0
    assert (server.data_directory / CLEAN_MARKER).exists()


@pytest.mark.slow
def test_frozen_broker_goes_on_where_it_stood(make_server: MakeServer) -> None:
    server = make_server()
    with Connection(server.bootstrap) as raw:
        assert raw.create_topic(TOPIC) == 0
    writer = PipelinedWriter(server.bootstrap, TOPIC, acks=-1, is_idempotent=True)
    writer.start()
    for _ in range(3):
        wait_for_progress([writer], 20)
        with server.paused():
            frozen_at = len(writer.acknowledged)
            time.sleep(0.7)  # The length of the freeze is the fault.
            assert len(writer.acknowledged) <= frozen_at + IN_FLIGHT, "acknowledged by a frozen process"
    writer.finish()
    check_stored(server.bootstrap, [writer])
    check_pulse(server)


def test_second_process_on_one_directory_is_turned_away(make_server: MakeServer) -> None:
    first = make_server()
    check_pulse(first)
    second = make_server(data_directory=first.data_directory, start=False)

    with pytest.raises(ServerFailedError, match="ended with 1 before it was ready"):
        second.start()

    assert str(first.data_directory) in second.stderr_text()
    assert TRACEBACK not in second.stderr_text()
    check_pulse(first)
    first.kill()
    second.start()  # The lock died with its holder.
    check_pulse(second)


def test_port_that_is_taken_is_named(make_server: MakeServer) -> None:
    first = make_server()
    second = make_server(start=False)
    second.port = first.port
    with pytest.raises(ServerFailedError, match="ended with 1 before it was ready"):
        second.start()
    assert str(first.port) in second.stderr_text()
    assert TRACEBACK not in second.stderr_text()


@pytest.mark.parametrize(
    ("setting", "value", "hint"),
    [
        ("log.retention.mss", "1", "log.retention.ms"),
        ("num.partitions", "many", "many"),
        ("num.partitions", "-3", "-3"),
        ("socket.request.max.bytes", "1000", "message.max.bytes"),
    ],
)
def test_setting_that_makes_no_sense_stops_the_start_and_is_explained(
    make_server: MakeServer, setting: str, value: str, hint: str
) -> None:
    server = make_server({setting: value}, start=False)
    with pytest.raises(ServerFailedError, match="before it was ready"):
        server.start()
    assert setting in server.stderr_text()
    assert hint in server.stderr_text()
    assert TRACEBACK not in server.stderr_text()


def test_data_directory_that_cannot_be_made_is_named(make_server: MakeServer) -> None:
    server = make_server(start=False)
    (server.directory / "file").write_text("not a directory")
    server.data_directory = server.directory / "file" / "data"
    with pytest.raises(ServerFailedError, match="ended with 1 before it was ready"):
        server.start()
    assert str(server.data_directory.parent) in server.stderr_text()
    assert TRACEBACK not in server.stderr_text()


def test_files_and_directories_are_for_the_owner_only(make_server: MakeServer) -> None:
    server = make_server()
    check_pulse(server)
    server.stop()
    for path in [server.data_directory, *server.data_directory.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path} has mode {mode:o}"


def test_symbolic_link_in_place_of_a_log_is_not_followed(make_server: MakeServer) -> None:
    server = make_server()
    with Connection(server.bootstrap) as raw:
        assert raw.create_topic(TOPIC) == 0
        assert raw.produce(TOPIC, 0, values_batch(b"x")).error_code == 0
    server.stop()
    (log,) = server.segment_paths(TOPIC)
    target = server.directory / "elsewhere"
    log.rename(target)
    log.symlink_to(target)
    content = target.read_bytes()

    try:
        server.restart()
        with Connection(server.bootstrap) as raw:
            raw.produce(TOPIC, 0, values_batch(b"y"))
    except ServerFailedError:
        pass  # Refusing to start is as good as refusing the partition.

    assert target.read_bytes() == content, "wrote through a symbolic link"


def test_log_lines_are_json_whatever_clients_call_themselves(make_server: MakeServer) -> None:
    """Names come from outside: they must not be able to write lines, colours or fields of their own."""
    server = make_server()
    evil = 'x"}\n{"level": "forged", "message": "\x1b[31mall is lost\x1b[0m"}\r\n'
    header = (18).to_bytes(2, "big") + (99).to_bytes(2, "big") + bytes(4) + string(evil) + b"\0"
    with Connection(server.bootstrap) as raw:
        raw.send(len(header).to_bytes(4, "big") + header)
        raw.receive_frame()
        raw.create_topic(evil)
        raw.send(request_frame(999, 0, b"") + request_frame(API_VERSIONS, 0, b""))
        assert raw.is_closed_by_peer()
    server.stop()
    lines = server.stderr_text().splitlines()
    assert lines, "nothing was logged"
    for line in lines:
        entry = json.loads(line)
        assert entry.get("level") != "forged"
        assert "\x1b" not in line


def test_help_and_version_need_no_broker() -> None:
    for arguments in (["--help"], ["serve", "--help"], ["--version"]):
        done = subprocess.run(
            [*penstock_command(), *arguments], capture_output=True, text=True, timeout=20, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_many_partitions_are_open_in_time(make_server: MakeServer) -> None:
    server = make_server()
    with Connection(server.bootstrap, timeout=60) as raw:
        assert raw.create_topic("wide", partitions=300) == 0
        for partition in (0, 150, 299):
            assert raw.produce("wide", partition, values_batch(b"x")).error_code == 0
    server.kill()
    server.restart()
    assert server.ready_seconds < 10
    with Connection(server.bootstrap) as raw:
        for partition in (0, 150, 299):
            assert raw.fetch_values("wide", partition) == [b"x"]


def test_server_helper_notices_a_broker_that_dies_early(make_server: MakeServer) -> None:
    """The tests' own tool: a start that fails is an error, not a hang."""
    server: Server = make_server({"no.such.setting": "1"}, start=False)
    with pytest.raises(ServerFailedError):
        server.start()
    assert not server.is_running
