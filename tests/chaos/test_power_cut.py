"""The power goes: what was not flushed is gone, what was acknowledged is not.

kill -9 leaves the page cache behind, so it cannot tell a broker that flushes from one that does not. Here the
data lies on an ext4 of its own in an image file, which is shut down as if the power had failed.

The broker is stopped before the cut: a flush that overlaps it may report success and lose the data, which no
program could help. That in turn hides acknowledgements before the flush, so one of the variants slows every
flush down: then an early acknowledgement is out long before its data is safe.
"""

import fcntl
import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker_process import Server
from tests.chaos.ledger import Ledger, make_writers
from tests.chaos.vitals import KILL_ROUNDS, TRACEBACK, long_run
from tests.chaos.writers import wait_for_progress
from tests.conftest import MakeServer
from tests.raw_kafka import Connection, values_batch

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.timeout(900)]

CUTS = max(3, KILL_ROUNDS // 2)
EXIT_FLUSH_FAILED = 74
IMAGE_BYTES = 512 * 1024 * 1024
FS_IOC_SHUTDOWN = 0x8004587D
WITHOUT_LOG_FLUSH = 2


class ImageDisk:
    """An ext4 file system in a file, whose power can be cut."""

    def __init__(self, directory: Path) -> None:
        self._image = directory / "disk.img"
        self.path = directory / "disk"

    def make(self) -> None:
        """Make and mount it; says why it cannot by skipping the test."""
        self.path.mkdir()
        with self._image.open("wb") as file:
            file.truncate(IMAGE_BYTES)
        self._run_or_skip("mkfs.ext4", "-q", "-F", str(self._image))
        self._run_or_skip("mount", "-o", "loop", str(self._image), str(self.path))

    def cut_power(self) -> None:
        """From now on nothing reaches the disk, not even what the file system had noted down."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, FS_IOC_SHUTDOWN, struct.pack("I", WITHOUT_LOG_FLUSH))
        finally:
            os.close(descriptor)

    def restore_power(self) -> None:
        """Mount it again: caches are gone, the file system mends itself from its journal."""
        subprocess.run(["umount", str(self.path)], check=True, capture_output=True)
        subprocess.run(["mount", "-o", "loop", str(self._image), str(self.path)], check=True)

    def remove(self) -> None:
        """Whatever state it is in."""
        subprocess.run(["umount", str(self.path)], check=False, capture_output=True)
        self._image.unlink(missing_ok=True)

    def _run_or_skip(self, *command: str) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"{command[0]} does not work here: {done.stderr.strip()}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[ImageDisk]:
    if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
        pytest.skip("mounting a disk image needs root and mkfs.ext4")
    image_disk = ImageDisk(tmp_path)
    image_disk.make()
    try:
        yield image_disk
    finally:
        image_disk.remove()


@pytest.fixture
def server(make_server: MakeServer, disk: ImageDisk) -> Iterator[Server]:
    """A broker on that disk, ended before the disk goes."""
    one = make_server(data_directory=disk.path / "data", start=False)
    try:
        yield one
    finally:
        one.close()


def lose_power(server: Server, disk: ImageDisk) -> None:
    with server.paused():
        disk.cut_power()
        server.kill()
    disk.restore_power()


@pytest.mark.parametrize(
    ("is_kernel_flushing", "failpoints"),
    [
        pytest.param(True, "", id="kernel-flush"),
        pytest.param(False, "", id="thread-flush"),
        pytest.param(False, "flush:delay=15ms", id="slow-flush", marks=long_run),
    ],
)
def test_power_cut_loses_nothing_that_was_acknowledged(
    server: Server, disk: ImageDisk, is_kernel_flushing: bool, failpoints: str
) -> None:
    server.settings["kernel.flush.enable"] = str(is_kernel_flushing).lower()
    if failpoints:
        server.environment["PENSTOCK_FAILPOINTS"] = failpoints
    server.start()
    dice = random.Random("power")
    writers = make_writers(server)
    ledger = Ledger(server, writers)
    for writer in writers:
        writer.start()

    for _ in range(CUTS):
        wait_for_progress(writers, dice.randint(1, 300))
        lose_power(server, disk)
        server.restart()
        ledger.check_new()

    wait_for_progress(writers, 1)
    for writer in writers:
        writer.finish()
    ledger.check_all()
    assert TRACEBACK not in server.stderr_text()


def test_created_topic_survives_a_power_cut_that_follows_at_once(server: Server, disk: ImageDisk) -> None:
    server.start()
    for number in range(5):
        topic = f"topic-{number}"
        with Connection(server.bootstrap) as raw:
            assert raw.create_topic(topic, partitions=3) == 0
            assert raw.produce(topic, 2, values_batch(b"first")).error_code == 0
        lose_power(server, disk)
        server.restart()
        with Connection(server.bootstrap) as raw:
            for known in range(number + 1):
                assert raw.fetch_values(f"topic-{known}", 2) == [b"first"]


def test_disk_that_dies_under_a_running_broker_ends_it(server: Server, disk: ImageDisk) -> None:
    """The kernel's own EIO, whichever way the broker flushes."""
    server.start()
    with Connection(server.bootstrap) as raw:
        assert raw.create_topic("orders") == 0
        for number in range(10):
            assert raw.produce("orders", 0, values_batch(b"%d" % number)).error_code == 0
        disk.cut_power()
        with pytest.raises(ConnectionError):
            raw.produce("orders", 0, values_batch(b"never"))
    assert server.wait_exit() == EXIT_FLUSH_FAILED
    disk.restore_power()
    server.restart()
    with Connection(server.bootstrap) as raw:
        assert raw.fetch_values("orders") == [b"%d" % number for number in range(10)]
