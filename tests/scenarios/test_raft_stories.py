"""Every story in ``raft/`` happens as it is told, and would not with the bug it is about.

``REWRITE_STORIES=1`` writes down what happens instead; read the difference before you believe it.
"""

import os
from pathlib import Path

import pytest
from tests.scenarios.raft_story import retell

from penstock.sim.planting import planted
from penstock.sim.raft.bugs import BUGS

FOLDER = Path(__file__).parent / "raft"
STORIES = sorted(FOLDER.glob("*.txt"))
REWRITE = os.environ.get("REWRITE_STORIES") == "1"

#: Which story breaks a rule with which bug.
BREAKING = {
    "vote-not-persisted": "07-vote-survives-a-crash",
    "term-not-persisted": "07-vote-survives-a-crash",
    "two-votes-per-term": "07-vote-survives-a-crash",
    "pre-votes-elect": "07-vote-survives-a-crash",
    "vote-before-flush": "08-vote-waits-for-the-disk",
    "stand-before-flush": "24-own-vote-waits-for-the-disk",
    "ack-before-flush": "09-acknowledged-means-on-disk",
    "leader-counts-unflushed": "09-acknowledged-means-on-disk",
    "late-report-believed": "17-late-acknowledgements",
    "wiped-disk-votes": "15-wiped-disk",
    "no-up-to-date-check": "02-figure-7",
    "no-consistency-check": "02-figure-7",
    "conflict-overlooked": "02-figure-7",
    "half-is-a-majority": "06-deposed-leader",
    "old-term-committed": "03-figure-8",
    "commit-unseen": "17-late-acknowledgements",
    "old-leader-obeyed": "18-old-leader-returns",
    "higher-term-ignored": "14-handing-over",
    "sent-is-taken": "22-everything-twice",
    "change-before-own-commit": "10-single-server-membership-bug",
    "pieces-out-of-order": "13-snapshot-for-a-slow-follower",
    "conflicting-log-kept": "13-snapshot-for-a-slow-follower",
    "read-unconfirmed": "06-deposed-leader",
    "read-too-early": "19-new-leader-reads",
}

#: Which story goes another way with which bug: a leader is disturbed, or a change is taken that must wait.
DIVERTING = {
    "no-pre-vote": "04-pre-vote-and-one-way-cut",
    "leader-not-defended": "04-pre-vote-and-one-way-cut",
    "no-check-quorum": "05-check-quorum",
    "no-leader-change-entry": "02-figure-7",
    "changes-overlap": "12-observer-becomes-voter",
    "voters-at-commit": "11-leader-removes-itself",
    "voters-survive-cut": "23-voters-cut-off",
    "snapshot-goes-back": "13-snapshot-for-a-slow-follower",
}


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


@pytest.mark.parametrize(("bug", "story"), BREAKING.items(), ids=BREAKING.keys())
def test_raft_bug_breaks_a_rule_in_its_story(bug: str, story: str) -> None:
    told = (FOLDER / f"{story}.txt").read_text()
    with planted(BUGS[bug]):
        assert "BROKEN" in retell(told)


@pytest.mark.parametrize(("bug", "story"), DIVERTING.items(), ids=DIVERTING.keys())
def test_raft_story_goes_another_way_with_a_bug(bug: str, story: str) -> None:
    told = (FOLDER / f"{story}.txt").read_text()
    with planted(BUGS[bug]):
        assert retell(told) != told


def test_there_are_stories_of_raft() -> None:
    assert len(STORIES) >= 20
