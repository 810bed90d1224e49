import errno
import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.model.errors import DiskFullError, FlushFailedError, StorageError
from penstock.storage.filesystem import PathMissingError
from penstock.storage.real_filesystem import RealFileSystem


@pytest.fixture
def fs() -> RealFileSystem:
    return RealFileSystem()


def fail_with(code: int) -> object:
    def call(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return call


def test_open_makes_files_and_directories_private(fs: RealFileSystem, tmp_path: Path) -> None:
    fs.make_directory(str(tmp_path / "directory"))
    fs.open(str(tmp_path / "file"), create=True).close()
    fs.lock(str(tmp_path / "LOCK")).release()
    assert (tmp_path / "directory").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "LOCK").stat().st_mode & 0o777 == 0o600


def test_make_private_takes_rights_from_others(fs: RealFileSystem, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert fs.make_private(str(tmp_path))
    assert tmp_path.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("code", "answer"), [(errno.EPERM, False), (errno.EROFS, None)])
def test_make_private_of_somebody_elses_directory_says_so(
    fs: RealFileSystem,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    answer: bool | None,
) -> None:
    monkeypatch.setattr(os, "fchmod", fail_with(code))
    if answer is None:
        with pytest.raises(StorageError):
            fs.make_private(str(tmp_path))
    else:
        assert fs.make_private(str(tmp_path)) is answer


def test_open_does_not_follow_links(fs: RealFileSystem, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "directory-link").symlink_to(tmp_path)
    with pytest.raises(StorageError):
        fs.open(str(tmp_path / "link"))
    with pytest.raises(StorageError):
        fs.open(str(tmp_path / "link"), create=True)
    with pytest.raises(StorageError):
        fs.read_file(str(tmp_path / "link"))
    with pytest.raises(StorageError):
        fs.lock(str(tmp_path / "link"))
    with pytest.raises(StorageError):
        fs.sync_directory(str(tmp_path / "directory-link"))
    assert not fs.is_directory(str(tmp_path / "directory-link"))


def test_open_refuses_what_is_no_regular_file(fs: RealFileSystem, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="regular"):
        fs.open(str(tmp_path / "pipe"))


def test_descriptors_are_not_inherited(fs: RealFileSystem, tmp_path: Path) -> None:
    file = fs.open(str(tmp_path / "file"), create=True)
    descriptor = file.fileno()
    assert descriptor is not None
    assert not os.get_inheritable(descriptor)
    file.close()


def test_write_continues_after_short_writes(
    fs: RealFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_pwritev = os.pwritev

    def three_bytes_at_most(descriptor: int, buffers: Sequence[bytes], position: int) -> int:
        joined = b"".join(buffers)
        return real_pwritev(descriptor, [joined[:3]], position)

    file = fs.open(str(tmp_path / "file"), create=True)
    monkeypatch.setattr(os, "pwritev", three_bytes_at_most)
    file.write(2, [b"abcd", b"", b"e", b"fghijk"])
    assert file.read(0, 100) == b"\0\0abcdefghijk"
    file.close()


def test_write_that_makes_no_progress_is_an_error(
    fs: RealFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = fs.open(str(tmp_path / "file"), create=True)
    monkeypatch.setattr(os, "pwritev", lambda *_: 0)
    with pytest.raises(StorageError, match="no more"):
        file.write(0, [b"abc"])
    file.close()


def test_read_continues_after_short_reads(
    fs: RealFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_pread = os.pread
    file = fs.open(str(tmp_path / "file"), create=True)
    file.write(0, [b"0123456789"])
    monkeypatch.setattr(os, "pread", lambda fd, length, at: real_pread(fd, min(4, length), at))
    assert file.read(1, 8) == b"12345678"
    assert file.read(1, 80) == b"123456789"
    file.close()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_write_without_room_says_the_disk_is_full(
    fs: RealFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    file = fs.open(str(tmp_path / "file"), create=True)
    monkeypatch.setattr(os, "pwritev", fail_with(code))
    monkeypatch.setattr(os, "posix_fallocate", fail_with(code))
    with pytest.raises(DiskFullError):
        file.write(0, [b"x"])
    with pytest.raises(DiskFullError):
        file.preallocate(10)
    file.close()


def test_write_error_names_file_and_reason(
    fs: RealFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = fs.open(str(tmp_path / "file"), create=True)
    monkeypatch.setattr(os, "pwritev", fail_with(errno.EIO))
    with pytest.raises(StorageError, match=r"write .*/file: Input/output error"):
        file.write(0, [b"x"])
    file.close()


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_flush_after_a_failed_one_fails_too(
    fs: RealFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    file = fs.open(str(tmp_path / "file"), create=True)
    with monkeypatch.context() as broken:
        broken.setattr(os, "fdatasync", fail_with(code))
        with pytest.raises(FlushFailedError):
            file.flush()
    with pytest.raises(FlushFailedError):
        file.flush()
    other = fs.open(str(tmp_path / "other"), create=True)
    other.flush()
    other.close()
    file.close()


def test_sync_directory_after_a_failed_one_fails_too(
    fs: RealFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail_with(errno.EIO))
        with pytest.raises(FlushFailedError):
            fs.sync_directory(str(tmp_path))
    with pytest.raises(FlushFailedError):
        fs.sync_directory(str(tmp_path))


def test_close_that_reports_a_lost_write_counts_as_failed_flush(
    fs: RealFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = fs.open(str(tmp_path / "file"), create=True)
    descriptor = file.fileno()
    with monkeypatch.context() as broken:
        broken.setattr(os, "close", fail_with(errno.EIO))
        with pytest.raises(FlushFailedError):
            file.close()
    assert descriptor is not None
    os.close(descriptor)


@pytest.mark.parametrize(("code", "answer"), [(errno.EAGAIN, False), (errno.EOPNOTSUPP, True)])
def test_is_resident_believes_the_kernel_where_it_answers(
    fs: RealFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, answer: bool
) -> None:
    file = fs.open(str(tmp_path / "file"), create=True)
    monkeypatch.setattr(os, "preadv", fail_with(code))
    assert file.is_resident(0, 10) is answer
    file.close()


def test_errors_of_every_kind_become_storage_errors(
    fs: RealFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    below_a_file = str(tmp_path / "file" / "x")
    with pytest.raises(StorageError):
        fs.is_directory(below_a_file)
    with pytest.raises(StorageError):
        fs.unlink(str(tmp_path))
    monkeypatch.setattr(fcntl, "flock", fail_with(errno.ENOLCK))
    with pytest.raises(StorageError, match="lock"):
        fs.lock(str(tmp_path / "LOCK"))
    with pytest.raises(PathMissingError):
        fs.rename(str(tmp_path / "a"), str(tmp_path / "b"))


def test_read_file_error_becomes_storage_error(fs: RealFileSystem, tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        fs.read_file(str(tmp_path))
