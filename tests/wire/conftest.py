"""What the tests of the wire share: random messages, from the fuzz target that lives as a script."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

FUZZ_TARGET = Path(__file__).parent.parent / "fuzz" / "fuzz_wire.py"


@pytest.fixture(scope="session")
def fuzzing() -> SimpleNamespace:
    """The functions of the fuzz target."""
    return SimpleNamespace(**runpy.run_path(str(FUZZ_TARGET)))
