import fcntl
import os
import sys
import time
from pathlib import Path

import pytest
from tests.spark.sessions.fake_java import write_program

from penstock.spark.sessions import archive_making
from penstock.spark.sessions.archive import Archive, archive_for
from penstock.spark.sessions.archive_making import make, make_in_background
from penstock.spark.sessions.errors import SparkStartError
from penstock.spark.sessions.java import Java


def java_in(home: Path, *, version: int = 17, has_base: bool = True) -> Java:
    server = home / "lib" / "server"
    server.mkdir(parents=True, exist_ok=True)
    if has_base:
        (server / "classes.jsa").touch()
    return Java(
        home=home, version=version, full_version=f"{version}.0.1+2", found_in="", has_vector_module=True
    )


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(path=tmp_path / "spark-4-java-17-x.jsa", is_cache=False, java_version=17)


def fitting(java: Java, tmp_path: Path) -> Archive | None:
    (tmp_path / "spark" / "jars").mkdir(parents=True, exist_ok=True)
    return archive_for(java, spark_home=tmp_path / "spark", spark_version="4.3.0", directory=tmp_path)


def test_archive_is_whole_only_if_as_long_as_it_was_when_complete(archive: Archive) -> None:
    """Java dies of one that was cut short."""
    assert not archive.is_whole()
    archive.path.write_bytes(bytes(100))
    assert not archive.is_whole()
    archive.size_path.write_text("100")
    assert archive.is_whole()
    os.truncate(archive.path, 99)
    assert not archive.is_whole()


def test_archive_is_another_for_another_java_or_spark(tmp_path: Path) -> None:
    one = fitting(java_in(tmp_path / "a"), tmp_path)
    assert one == fitting(java_in(tmp_path / "a"), tmp_path)
    assert one is not None
    assert one.path.name.startswith("spark-4.3.0-java-17.0.1-")

    assert fitting(java_in(tmp_path / "b"), tmp_path) != one
    assert fitting(java_in(tmp_path / "a", version=21), tmp_path) != one
    os.utime(tmp_path / "spark" / "jars", ns=(1, 1))
    assert fitting(java_in(tmp_path / "a"), tmp_path) != one


def test_kind_of_archive_depends_on_what_java_has(tmp_path: Path) -> None:
    assert fitting(java_in(tmp_path / "21", version=21, has_base=False), tmp_path) is None
    cache = fitting(java_in(tmp_path / "25", version=25, has_base=False), tmp_path)

    assert cache is not None
    assert cache.options()[0] == f"-XX:AOTCache={cache.path}"
    assert cache.making_options(Path("/draft"))[0] == "-XX:AOTCacheOutput=/draft"
    assert not any("aot" in option for option in archive_options(tmp_path))


def archive_options(tmp_path: Path) -> tuple[str, ...]:
    found = fitting(java_in(tmp_path / "17"), tmp_path)
    assert found is not None
    return found.options()


def test_nothing_is_begun_in_the_background_where_it_would_not_pay(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not make_in_background(archive, {"CI": "true"})
    archive.log_path.write_text("failed")
    assert not make_in_background(archive, {})
    archive.log_path.unlink()
    monkeypatch.setattr(archive_making, "DISK_BYTES_MIN", 2**62)
    assert not make_in_background(archive, {})
    assert list(archive.path.parent.iterdir()) == []


def test_work_in_the_background_is_modest_and_nobody_has_to_wait_for_it(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    script = f'#!/bin/sh\necho "$(nice) $*" > {told}.draft\nmv {told}.draft {told}\n'
    monkeypatch.setattr(sys, "executable", str(write_program(tmp_path / "python", script)))
    environment = {name: value for name, value in os.environ.items() if name != "CI"}

    assert make_in_background(archive, environment)

    deadline = time.monotonic() + 20
    while not told.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert told.read_text() == "19 -m penstock.spark.sessions.archive_making\n"


def test_failure_is_forgotten_after_a_day(archive: Archive) -> None:
    archive.log_path.write_text("failed")
    assert archive_making._has_failed_lately(archive)
    yesterday = time.time() - archive_making.RETRY_SECONDS - 1
    os.utime(archive.log_path, (yesterday, yesterday))
    assert not archive_making._has_failed_lately(archive)


def test_memory_that_is_short_is_noticed(tmp_path: Path) -> None:
    facts = tmp_path / "meminfo"
    facts.write_text("MemTotal: 8000000 kB\nMemAvailable: 2097151 kB\n")
    assert not archive_making._is_roomy(tmp_path, facts)
    facts.write_text("MemTotal: 8000000 kB\nMemAvailable: 2097152 kB\n")
    assert archive_making._is_roomy(tmp_path, facts)


def test_archive_is_made_by_one_process_at_a_time(archive: Archive) -> None:
    with open(archive.path.with_name(f"{archive.path.name}.lock"), "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert make(archive, os.environ) is False


@pytest.mark.slow
def test_training_that_fails_leaves_a_log_and_no_archive(archive: Archive) -> None:
    with pytest.raises(SparkStartError, match=r"\.log"):
        make(archive, {**os.environ, "SPARK_HOME": "/no/spark/here"})

    assert "/no/spark/here" in archive.log_path.read_text()
    assert not archive.is_whole()


def test_only_the_archives_used_last_are_kept(archive: Archive) -> None:
    for number in range(archive_making.ARCHIVE_COUNT_MAX + 2):
        path = archive.path.with_name(f"spark-{number}.jsa")
        path.touch()
        path.with_name(f"{path.name}.size").touch()
        os.utime(path, (number, number))

    archive_making._forget_old(archive)

    left = sorted(path.name for path in archive.path.parent.glob("*.jsa"))
    assert left == [f"spark-{number}.jsa" for number in range(2, archive_making.ARCHIVE_COUNT_MAX + 2)]
    assert len(list(archive.path.parent.iterdir())) == 2 * len(left)
