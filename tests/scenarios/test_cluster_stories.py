"""Every story in ``cluster/`` ends well, and breaks a promise with each of the bugs that it is about."""

import re

import pytest
from tests.scenarios.cluster import (
    brokers,
    coordinators,
    copying,
    in_sync_set,
    leading,
    logs,
    quorum,
    transactions,
)
from tests.scenarios.cluster.story import Story

from penstock.model.errors import InvariantError
from penstock.sim.cluster import stories
from penstock.sim.cluster.bugs import BUGS, planted

THEMES = (logs, transactions, coordinators, brokers, copying, in_sync_set, leading, quorum)
STORIES: tuple[Story, ...] = tuple(story for theme in THEMES for story in theme.STORIES)

TELLINGS = {f"{bug}-{story.name}": (bug, story) for story in STORIES for bug in story.bugs}


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_cluster_story_ends_well(story: Story) -> None:
    story.tell()


@pytest.mark.parametrize(("bug", "story"), TELLINGS.values(), ids=TELLINGS.keys())
def test_cluster_story_breaks_a_promise_with_its_bug(bug: str, story: Story) -> None:
    with (
        planted(bug),
        pytest.raises((AssertionError, InvariantError), match=re.escape(story.bugs[bug])),
    ):
        story.tell()


def test_every_bug_of_the_cluster_has_a_story_or_a_reason_to_have_none() -> None:
    assert [bug for bug in BUGS if not stories.is_told(bug)] == []
    assert stories.STORIES.keys() | stories.UNSEEN.keys() <= BUGS.keys()


def test_table_of_bugs_names_the_stories_that_tell_them() -> None:
    told = sorted((bug, story.name) for bug, story in TELLINGS.values())
    assert told == sorted(stories.STORIES.items())


def test_stories_of_the_cluster_have_names_of_their_own() -> None:
    assert len({story.name for story in STORIES}) == len(STORIES)
