"""Every story in ``groups/`` happens as it is told.

``REWRITE_STORIES=1`` writes down what happens instead; read the difference before you believe it.
"""

import os
from pathlib import Path

import pytest
from tests.scenarios.consumer_story import ConsumerStory
from tests.scenarios.group_story import retell

STORIES = sorted((Path(__file__).parent / "groups").glob("*.txt"))
REWRITE = os.environ.get("REWRITE_STORIES") == "1"


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_group_story_happens_as_it_is_told(path: Path) -> None:
    told = path.read_text()
    happened = retell(told, ConsumerStory())
    if REWRITE:
        path.write_text(happened)
    else:
        assert happened == told


def test_there_are_stories() -> None:
    assert len(STORIES) >= 10
