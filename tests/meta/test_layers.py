"""The floors of the house, as import-linter knows them."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.meta.source_tree import ROOT, modules

PACKAGES_ABOVE_ALL = {"cli", "bench", "sim", "testing"}


@pytest.mark.slow
def test_import_contracts_hold() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_package_stands_on_a_floor() -> None:
    """A package that no contract names could be imported from anywhere."""
    settings = (ROOT / "pyproject.toml").read_text()
    packages = {module.name.split("/")[0] for module in modules() if "/" in module.name}
    assert not [package for package in packages if f"penstock.{package}" not in settings]
