"""The stories of partitions can fail: each of these bugs is told by at least one of them.

Most bugs are planted as the simulator plants them, each in a story of its own
(``tests/scenarios/test_cluster_stories.py``); here are those that are in how the model asks the machines,
or too small for the simulator's table.
"""

from collections.abc import Callable

import pytest
from tests.replication import cluster_model
from tests.replication.cluster_model import Cluster, Node
from tests.scenarios.cluster import copying, in_sync_set, leading
from tests.scenarios.cluster.story import Story

from penstock.model.errors import PenstockError
from penstock.model.ids import NodeId
from penstock.replication.in_sync_set import InSyncSet

Plant = Callable[[pytest.MonkeyPatch], None]

STORIES = (*copying.STORIES, *in_sync_set.STORIES, *leading.STORIES)


def cut_at_the_high_watermark(patch: pytest.MonkeyPatch) -> None:
    restart = Cluster.restart

    def cut(self: Cluster, node_id: int) -> None:
        node: Node = self.nodes[NodeId(node_id)]
        del node.log[node.high_watermark :]
        restart(self, node_id)

    patch.setattr(Cluster, "restart", cut)


def no_divergence_check(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cluster_model, "diverging_epoch", lambda *_, **__: None)


def refused_members_are_forgotten_at_once(patch: pytest.MonkeyPatch) -> None:
    def maximal(self: InSyncSet) -> frozenset[NodeId]:
        proposed = () if self.proposal is None else self.proposal.members
        return frozenset({*self.members, *(node_id for node_id, _ in proposed)})

    patch.setattr(InSyncSet, "maximal", property(maximal))


def lower_minimum_leaves_eligibility(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cluster_model, "with_eligibility", lambda _, records: records)


BUGS: tuple[Plant, ...] = (
    cut_at_the_high_watermark,
    no_divergence_check,
    refused_members_are_forgotten_at_once,
    lower_minimum_leaves_eligibility,
)


def is_told_by(story: Story) -> bool:
    try:
        story.tell()
    except (AssertionError, PenstockError):
        return True
    return False


@pytest.mark.parametrize("plant", BUGS, ids=lambda plant: plant.__name__)
def test_planted_bug_is_told_by_a_story(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert any(is_told_by(story) for story in STORIES)
