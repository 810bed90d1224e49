"""The notebook's cells run one after the other, as somebody who presses Shift-Enter does it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.examples.running import EXAMPLES, ROOT, SECONDS_MAX

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def cells(path: Path) -> list[str]:
    """The code of a notebook."""
    document = json.loads(path.read_text())
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]


def test_notebook_shows_a_topic_as_a_table_and_writes_the_answer(tmp_path: Path) -> None:
    program = tmp_path / "notebook.py"
    program.write_text("\n\n".join(cells(EXAMPLES / "orders.ipynb")))
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    assert "3000 orders" in done.stdout
    assert "|  valve|  1000|" in done.stdout
    assert "3 rows of revenue" in done.stdout
