"""A file system that is easily full."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

MEBIBYTE = 1024 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 48 MiB of its own."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    path = tmp_path / "disk"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=48m,mode=0700", "tmpfs", str(path)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a small file system here: {mounted.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def fill_completely(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (MEBIBYTE, 4096):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
