"""Every promise names a test that exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text()
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def test_every_named_test_exists() -> None:
    missing = [f"{path}::{name}" for path, name in NAMED if f"def {name}(" not in (ROOT / path).read_text()]
    assert not missing


def test_every_promise_names_what_would_fail() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| **")]
    assert rows
    assert [row for row in rows if "`tests/" not in row] == []
