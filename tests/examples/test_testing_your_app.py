"""The example of an application that is tested with Penstock: its own suite passes, as its README says."""

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "testing_your_app"
TESTS_MIN = 20


@pytest.mark.slow
def test_suite_of_the_example_passes_on_two_workers() -> None:
    is_installed = any(each.name == "penstock" for each in entry_points(group="pytest11"))
    plugin = () if is_installed else ("-p", "penstock.testing.plugin")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *plugin],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    summary = re.search(r"(\d+) passed", done.stdout)
    assert summary is not None
    assert int(summary[1]) >= TESTS_MIN
