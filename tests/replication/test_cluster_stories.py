from collections.abc import Callable

import pytest
from tests.replication.cluster_stories import STORIES


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_story_ends_well(story: Callable[[], None]) -> None:
    story()
