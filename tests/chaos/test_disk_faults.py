"""A disk that is full, and a disk that lies: what the broker says, what it goes on doing, what it stops."""

import shutil
import time
from pathlib import Path

import pytest
from tests.broker_process import Server, ServerFailedError, wait_until
from tests.chaos.small_disk import fill_completely
from tests.chaos.vitals import TRACEBACK
from tests.conftest import MakeServer
from tests.raw_kafka import PRODUCE, Connection, produce_body, read_produce, request_frame, values_batch

from penstock.model.error_codes import ErrorCode

pytestmark = pytest.mark.chaos

MEBIBYTE = 1024 * 1024
EXIT_FLUSH_FAILED = 74
TOPIC = "orders"
PAYLOAD = bytes(200_000)


def produce_until_refused(raw: Connection) -> tuple[int, int]:
    """How many records were taken before the first refusal, and its error code."""
    for count in range(1000):
        answer = raw.produce(TOPIC, 0, values_batch(b"%06d" % count + PAYLOAD))
        if answer.error_code != 0:
            return count, answer.error_code
        assert answer.base_offset == count
    raise AssertionError("the disk never filled up")


def check_content(raw: Connection, count: int) -> None:
    """Exactly the acknowledged records, in order."""
    values = raw.fetch_values(TOPIC)
    assert [int((value or b"")[:6]) for value in values] == list(range(count))


@pytest.mark.slow
@pytest.mark.parametrize("reserve_bytes", [0, 1024 * MEBIBYTE], ids=["until-the-last-byte", "with-a-reserve"])
def test_full_disk_refuses_producers_serves_readers_and_recovers(
    make_server: MakeServer, small_disk: Path, reserve_bytes: int
) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(24 * MEBIBYTE))
    server = make_server({"disk.reserve.bytes": reserve_bytes}, data_directory=small_disk / "data")
    with Connection(server.bootstrap) as raw:
        assert raw.create_topic(TOPIC, segment_bytes=str(4 * MEBIBYTE)) == 0

        count, error = produce_until_refused(raw)

        assert count > 20
        assert error == ErrorCode.KAFKA_STORAGE_ERROR
        check_content(raw, count)
        assert (
            raw.produce(TOPIC, 0, values_batch(b"still" + PAYLOAD)).error_code
            == ErrorCode.KAFKA_STORAGE_ERROR
        )
        check_content(raw, count)
        wait_until(lambda: "full" in server.stderr_text(), what="a line about it in the log")

        ballast.unlink()
        wait_until(
            lambda: raw.produce(TOPIC, 0, values_batch(b"%06d" % count)).error_code == 0,
            what="producers to be served again",
            every_seconds=0.1,
        )
        check_content(raw, count + 1)
    assert server.is_running
    server.kill()
    server.restart()
    with Connection(server.bootstrap) as raw:
        check_content(raw, count + 1)
    assert TRACEBACK not in server.stderr_text()


@pytest.mark.slow
def test_broker_starts_and_serves_readers_on_a_full_disk(make_server: MakeServer, small_disk: Path) -> None:
    server = make_server({"disk.reserve.bytes": 0}, data_directory=small_disk / "data")
    with Connection(server.bootstrap) as raw:
        assert raw.create_topic(TOPIC) == 0
        for number in range(5):
            assert raw.produce(TOPIC, 0, values_batch(b"%06d" % number)).error_code == 0
    server.kill()
    fill_completely(small_disk / "ballast")

    server.restart()

    with Connection(server.bootstrap) as raw:
        check_content(raw, 5)
        refused = raw.produce(TOPIC, 0, values_batch(b"000005" + PAYLOAD))
        assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        (small_disk / "ballast").unlink()
        wait_until(
            lambda: raw.produce(TOPIC, 0, values_batch(b"000005")).error_code == 0,
            what="producers to be served again",
            every_seconds=0.1,
        )
        check_content(raw, 6)


def test_write_that_finds_no_space_is_undone_and_the_next_one_taken(make_server: MakeServer) -> None:
    """The same without a file system of its own: the first writes to the partition fail half-way."""
    order = f"write:error=ENOSPC:after=3:count=2:path={TOPIC}-0"
    server = make_server(environment={"PENSTOCK_FAILPOINTS": order})
    with Connection(server.bootstrap) as raw:
        assert raw.create_topic(TOPIC) == 0
        taken, errors = 0, set()
        deadline = time.monotonic() + 20
        while taken < 10 and time.monotonic() < deadline:
            answer = raw.produce(TOPIC, 0, values_batch(b"%06d" % taken))
            if answer.error_code == 0:
                assert answer.base_offset == taken
                taken += 1
            else:
                errors.add(answer.error_code)
        assert taken == 10
        assert errors == {ErrorCode.KAFKA_STORAGE_ERROR}
        check_content(raw, 10)
    server.kill()
    del server.environment["PENSTOCK_FAILPOINTS"]
    server.restart()
    with Connection(server.bootstrap) as raw:
        check_content(raw, 10)


def produce_until_the_end(server: Server) -> int:
    """Produce until the broker is gone; the end of what it acknowledged."""
    with Connection(server.bootstrap) as raw:
        count = raw.end_offset(TOPIC)
        try:
            while count < 10_000:
                answer = raw.produce(TOPIC, 0, values_batch(b"%06d" % count))
                assert answer.error_code == 0, "the end is not announced by an error, but by the end"
                count += 1
        except ConnectionError:
            return count
    raise AssertionError("the broker outlived a failed flush")


def create_topic(server: Server) -> None:
    with Connection(server.bootstrap) as raw:
        assert raw.create_topic(TOPIC) == 0


def test_failed_flush_ends_the_process_and_nothing_acknowledged_is_lost(make_server: MakeServer) -> None:
    order = f"flush:error=EIO:after=20:path={TOPIC}-0"
    server = make_server(environment={"PENSTOCK_FAILPOINTS": order})
    create_topic(server)

    count = produce_until_the_end(server)

    assert server.wait_exit() == EXIT_FLUSH_FAILED
    assert 0 < count < 25, "acknowledged although the flush failed"
    assert "flush" in server.stderr_text()
    del server.environment["PENSTOCK_FAILPOINTS"]
    server.restart()
    with Connection(server.bootstrap) as raw:
        # The record whose flush failed may have reached the disk all the same; no other may.
        assert count <= raw.end_offset(TOPIC) <= count + 1
        check_content(raw, raw.end_offset(TOPIC))


def test_flush_that_fails_again_and_again_keeps_the_broker_down_until_somebody_looks(
    make_server: MakeServer,
) -> None:
    order = f"flush:error=EIO:after=4:path={TOPIC}-0"
    server = make_server()
    create_topic(server)
    server.stop()
    server.environment["PENSTOCK_FAILPOINTS"] = order
    for _ in range(2):
        server.restart()
        produce_until_the_end(server)
        assert server.wait_exit() == EXIT_FLUSH_FAILED

    del server.environment["PENSTOCK_FAILPOINTS"]
    with pytest.raises(ServerFailedError, match="before it was ready"):
        server.restart()

    assert "stays down" in server.stderr_text()
    (server.data_directory / "flush-failures").unlink()
    server.restart()
    with Connection(server.bootstrap) as raw:
        check_content(raw, raw.end_offset(TOPIC))


def test_failed_flush_of_the_metadata_log_acknowledges_no_topic(make_server: MakeServer) -> None:
    server = make_server()
    server.stop()
    server.environment["PENSTOCK_FAILPOINTS"] = "flush:error=EIO:path=__cluster_metadata"
    try:
        server.restart()
    except ServerFailedError:
        return  # The start itself writes metadata: refusing to start is as good.
    with Connection(server.bootstrap) as raw, pytest.raises(ConnectionError):
        raw.create_topic(TOPIC)
    assert server.wait_exit() == EXIT_FLUSH_FAILED


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_flush_failed_by_the_kernel_ends_the_process(make_server: MakeServer, tmp_path: Path) -> None:
    """The same as above with the system call itself failing, below all of our code."""
    server = make_server({"kernel.flush.enable": False})
    create_topic(server)
    server.stop()
    server.command_prefix = [
        *("strace", "-D", "-f", "-qq", "-o", str(tmp_path / "trace")),
        *("-e", "trace=fdatasync,fsync,syncfs", "-e", "inject=fdatasync,fsync,syncfs:error=EIO:when=15+"),
    ]
    try:
        server.restart()
    except ServerFailedError as failure:
        if "strace:" in server.stderr_tail():
            pytest.skip(f"strace may not trace here: {failure}")
        raise

    count = produce_until_the_end(server)

    assert server.wait_exit() == EXIT_FLUSH_FAILED
    assert 0 < count < 300, "acknowledged although flushes fail"
    server.command_prefix = ()
    server.restart()
    with Connection(server.bootstrap) as raw:
        assert raw.end_offset(TOPIC) >= count
        check_content(raw, raw.end_offset(TOPIC))


@pytest.mark.slow
def test_slow_flushes_make_larger_rounds_not_early_acknowledgements(make_server: MakeServer) -> None:
    """An acknowledgement that did not wait for its flush would come in less than a flush takes."""
    server = make_server(environment={"PENSTOCK_FAILPOINTS": f"flush:delay=150ms:path={TOPIC}-0"})
    create_topic(server)
    with Connection(server.bootstrap) as raw:
        for acks in (1, -1):
            began = time.monotonic()
            assert raw.produce(TOPIC, 0, values_batch(b"x"), acks=acks).error_code == 0
            assert time.monotonic() - began >= 0.15


@pytest.mark.slow
def test_reader_sees_a_record_only_after_its_flush(make_server: MakeServer) -> None:
    """What a consumer has read must not vanish with the power: the high watermark waits for the disk."""
    server = make_server(environment={"PENSTOCK_FAILPOINTS": f"flush:delay=400ms:path={TOPIC}-0"})
    create_topic(server)
    with Connection(server.bootstrap) as writer, Connection(server.bootstrap) as reader:
        began = time.monotonic()
        writer.send(request_frame(PRODUCE, 8, produce_body(TOPIC, 0, values_batch(b"first"))))
        looks = 0
        while True:
            answer = reader.fetch(TOPIC, 0, 0)
            if time.monotonic() - began > 0.35:
                break
            assert (answer.high_watermark, answer.records) == (0, b""), "shown before it was safe"
            looks += 1
        assert looks > 3
        assert read_produce(writer.answer(1)).error_code == 0
        assert reader.fetch_values(TOPIC) == [b"first"]
