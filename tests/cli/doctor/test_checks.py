"""Single checks, in situations that this machine is not in."""

import resource
import socket
import time
from pathlib import Path

import pytest
from tests.spark.sessions.fake_java import write_java

from penstock.cli.doctor import disk, machine, runtime
from penstock.cli.doctor.directory_lock import holder_of
from penstock.cli.doctor.filesystem_type import filesystem_type
from penstock.cli.doctor.finding import Level
from penstock.cli.doctor.java import check_java
from penstock.cli.doctor.port import check_port
from penstock.config.listeners import Listener


def levels(directory: Path) -> list[Level]:
    return [finding.level for finding in disk.check_disk(directory)]


def test_disk_with_little_room_is_warned_of_and_with_less_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "ROOM_BYTES_WANTED", 2**62)
    assert levels(tmp_path)[1] is Level.WARNING
    monkeypatch.setattr(disk, "ROOM_BYTES_MIN", 2**62)
    assert levels(tmp_path)[1] is Level.PROBLEM


@pytest.mark.parametrize(("name", "limit"), [("SLOW_FLUSH_MS", 0.0), ("IMPLAUSIBLE_FLUSH_MS", 1e9)])
def test_disk_that_is_slow_or_too_good_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: float
) -> None:
    monkeypatch.setattr(disk, "SLOW_FLUSH_MS", 1e9)
    monkeypatch.setattr(disk, "IMPLAUSIBLE_FLUSH_MS", 0.0)
    monkeypatch.setattr(disk, name, limit)

    assert levels(tmp_path)[3] is Level.WARNING


def test_disk_before_the_first_start_is_looked_at_where_it_will_be(tmp_path: Path) -> None:
    findings = list(disk.check_disk(tmp_path / "not" / "yet"))

    assert "to be made" in findings[0].text
    assert len(findings) == 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [("worker-1", "several workers; serve it with --workers"), ("node-1", "a whole cluster; start it with")],
)
def test_disk_with_the_data_of_several_brokers_is_not_taken_for_free(
    tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "meta.properties").touch()

    first = next(disk.check_disk(tmp_path))
    assert first.level is Level.OK
    assert f"{tmp_path} holds the data of {said}" in first.text


@pytest.mark.parametrize(
    ("kind", "level"),
    [
        ("ext4", Level.OK),
        ("tmpfs", Level.WARNING),
        ("nfs4", Level.WARNING),
        ("fuse.sshfs", Level.WARNING),
        ("overlay", Level.WARNING),
        (None, Level.OK),
    ],
)
def test_disk_kind_decides_how_far_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str | None, level: Level
) -> None:
    monkeypatch.setattr(disk, "filesystem_type", lambda path: kind)

    assert levels(tmp_path)[2] is level


def test_filesystem_type_is_that_of_the_deepest_mount(tmp_path: Path) -> None:
    inner = tmp_path / "inner dir"
    inner.mkdir()
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        f"22 21 0:5 / {str(inner).replace(' ', chr(92) + '040')} rw shared:1 - tmpfs tmpfs rw\n"
        "nonsense\n"
    )

    assert filesystem_type(inner, mounts=mounts) == "tmpfs"
    assert filesystem_type(tmp_path, mounts=mounts) == "ext4"
    assert filesystem_type(tmp_path, mounts=tmp_path / "none") is None


def test_holder_of_a_directory_without_a_lock_is_nobody(tmp_path: Path) -> None:
    assert holder_of(tmp_path) is None
    (tmp_path / "LOCK").touch()
    assert holder_of(tmp_path) is None


@pytest.mark.parametrize(
    ("limit", "level"),
    [
        (100, Level.PROBLEM),
        (1024, Level.WARNING),
        (65_536, Level.OK),
        (resource.RLIM_INFINITY, Level.OK),
    ],
)
def test_open_files_limit_is_judged(monkeypatch: pytest.MonkeyPatch, limit: int, level: Level) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (64, limit))

    assert machine.check_open_files().level is level


def test_clock_that_was_never_set_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.check_clock().level in (Level.OK, Level.WARNING)
    monkeypatch.setattr(time, "time", lambda: 1_000.0)
    assert machine.check_clock().level is Level.PROBLEM


def test_runtime_that_lacks_a_package_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {finding.level for finding in runtime.check_runtime()} == {Level.OK}
    monkeypatch.setattr(runtime, "REQUIRED", ("rich", "no-such-package"))
    (missing,) = [each for each in runtime.check_runtime() if each.level is Level.PROBLEM]
    assert missing.text == "Missing: no-such-package."


@pytest.mark.parametrize(
    ("specification", "level", "said"),
    [
        ("17", Level.OK, "Java 17, "),
        ("18", Level.WARNING, "is Java 18; Spark supports 17, 21, 25"),
        ("1.8", Level.WARNING, "there is no Java 17 or newer ("),
    ],
)
def test_java_is_judged_by_what_it_says(tmp_path: Path, specification: str, level: Level, said: str) -> None:
    path = write_java(tmp_path, specification=specification)
    finding = check_java({"JAVA_HOME": str(tmp_path), "PATH": ""}, is_needed=True, directories=())

    assert (finding.level, said in finding.text) == (level, True)
    assert str(path) in finding.text


def test_java_that_is_missing_matters_only_where_spark_is(tmp_path: Path) -> None:
    environment = {"JAVA_HOME": str(tmp_path), "PATH": str(tmp_path)}

    assert check_java(environment, is_needed=False, directories=()).level is Level.OK
    needed = check_java(environment, is_needed=True, directories=())
    assert needed.level is Level.WARNING
    assert "openjdk-17" in needed.advice


def test_port_that_was_looked_at_is_free_afterwards() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = int(server.getsockname()[1])
    listener = Listener(name="PLAINTEXT", host="127.0.0.1", port=port)
    assert check_port(listener).level is Level.OK
    socket.create_server(("127.0.0.1", port)).close()
