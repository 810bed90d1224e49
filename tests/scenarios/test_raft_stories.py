"""Every story in ``raft/`` happens as it is told, and would not with the bug it is about.

``REWRITE_STORIES=1`` writes down what happens instead; read the difference before you believe it.
"""

import os
from pathlib import Path

import pytest
from tests.scenarios.raft_story import retell

FOLDER = Path(__file__).parent / "raft"
STORIES = sorted(FOLDER.glob("*.txt"))
REWRITE = os.environ.get("REWRITE_STORIES") == "1"


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_raft_story_happens_as_it_is_told(path: Path) -> None:
    told = path.read_text()
    happened = retell(told)
    if REWRITE:
        path.write_text(happened)
    else:
        assert happened == told


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_no_rule_is_broken_in_a_raft_story(path: Path) -> None:
    assert "BROKEN" not in path.read_text()
