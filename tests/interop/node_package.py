"""kafkajs from the package registry: installed once, outside the project."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

PACKAGE = "kafkajs@2.2.4"


def node_modules() -> Path:
    """Where it is; skips the test where it cannot be had."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm and node are not installed")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "penstock-tests" / PACKAGE
    if not home.exists():
        _install(home)
    return home / "node_modules"


def _install(home: Path) -> None:
    """Install beside and rename, so that two test workers cannot meet in one directory."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as staging:
        target = Path(staging) / "package"
        target.mkdir()
        options = ("--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(target))
        done = subprocess.run(
            ["npm", "install", *options, PACKAGE], capture_output=True, text=True, timeout=100, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"npm cannot install {PACKAGE}: {done.stderr.strip().splitlines()[-1:]}")
        try:
            target.rename(home)
        except OSError:
            if not home.exists():
                raise
