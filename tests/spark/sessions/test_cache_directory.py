import os
import stat
import tempfile
from pathlib import Path

import pytest

from penstock.spark.sessions.cache_directory import cache_directory


@pytest.fixture(autouse=True)
def other_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is there when nothing better is."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place / f"penstock-{os.geteuid()}"


def test_directory_is_where_caches_of_users_are_and_private(tmp_path: Path) -> None:
    chosen = cache_directory({"XDG_CACHE_HOME": str(tmp_path / "caches"), "HOME": str(tmp_path)})

    assert chosen == tmp_path / "caches" / "penstock"
    assert stat.S_IMODE(chosen.stat().st_mode) == 0o700
    assert cache_directory({"HOME": str(tmp_path)}) == tmp_path / ".cache" / "penstock"
    own = {"PENSTOCK_CACHE_DIR": str(tmp_path / "own"), "XDG_CACHE_HOME": str(tmp_path / "caches")}
    assert cache_directory(own) == tmp_path / "own"


def test_directory_that_others_may_write_is_not_used(tmp_path: Path, other_place: Path) -> None:
    (tmp_path / "penstock").mkdir()
    (tmp_path / "penstock").chmod(0o777)

    assert cache_directory({"XDG_CACHE_HOME": str(tmp_path)}) == other_place


def test_link_to_elsewhere_is_not_used(tmp_path: Path, other_place: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "penstock").symlink_to(tmp_path / "elsewhere")

    assert cache_directory({"XDG_CACHE_HOME": str(tmp_path)}) == other_place


def test_place_that_cannot_be_made_is_passed_over(tmp_path: Path, other_place: Path) -> None:
    (tmp_path / "file").touch()

    assert cache_directory({"XDG_CACHE_HOME": str(tmp_path / "file")}) == other_place
    other_place.rmdir()
    other_place.touch()
    assert cache_directory({"XDG_CACHE_HOME": str(tmp_path / "file")}) is None
