"""The stories can fail: each of these bugs, planted into the machines, is told by at least one of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.replication import cluster_model
from tests.replication.cluster_model import Cluster, Node
from tests.replication.cluster_stories import STORIES

from penstock.metadata import alter_partition, broker_registration, partition_change
from penstock.model.errors import PenstockError
from penstock.model.ids import NodeId
from penstock.replication.follower import PartitionFollower
from penstock.replication.follower_events import FetchAnswered
from penstock.replication.in_sync_set import InSyncSet
from penstock.replication.leader import PartitionLeader
from penstock.replication.leader_events import ProposalAnswered

Plant = Callable[[pytest.MonkeyPatch], None]


def fetch_before_flush(patch: pytest.MonkeyPatch) -> None:
    position = PartitionFollower.fetch_position

    def early(self: Any, now: Any) -> Any:
        flushed, self._flushed = self._flushed, self._end
        try:
            return position(self, now)
        finally:
            self._flushed = flushed

    patch.setattr(PartitionFollower, "fetch_position", early)


def cut_at_the_high_watermark(patch: pytest.MonkeyPatch) -> None:
    restart = Cluster.restart

    def cut(self: Cluster, node_id: int) -> None:
        node: Node = self.nodes[NodeId(node_id)]
        del node.log[node.high_watermark :]
        restart(self, node_id)

    patch.setattr(Cluster, "restart", cut)


def no_divergence_check(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cluster_model, "diverging_epoch", lambda *_, **__: None)


def no_leader_epoch_check(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PartitionLeader, "check_fetch", lambda *_, **__: None)


def late_answers_are_taken_for_new_ones(patch: pytest.MonkeyPatch) -> None:
    handle = PartitionFollower._fetch_answered

    def believe(self: Any, event: FetchAnswered) -> Any:
        return handle(self, replace(event, asked=self._asked))

    patch.setattr(PartitionFollower, "_fetch_answered", believe)


def proposed_members_are_not_waited_for(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(InSyncSet, "maximal", property(lambda self: self.members))


def refused_members_are_forgotten_at_once(patch: pytest.MonkeyPatch) -> None:
    def maximal(self: InSyncSet) -> frozenset[NodeId]:
        proposed = () if self.proposal is None else self.proposal.members
        return frozenset({*self.members, *(node_id for node_id, _ in proposed)})

    patch.setattr(InSyncSet, "maximal", property(maximal))


def answer_counts_before_the_log_says_so(patch: pytest.MonkeyPatch) -> None:
    def believe(self: Any, event: ProposalAnswered) -> Any:
        if event.error_code:
            return ()
        self._in_sync.log_says([node_id for node_id, _ in event.proposal.members], has_moved=True)
        return self._advance()

    patch.setattr(PartitionLeader, "_proposal_answered", believe)


def commits_below_the_minimum(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PartitionLeader, "min_insync_replicas", 1)


def anybody_who_fetches_is_let_in(patch: pytest.MonkeyPatch) -> None:
    def expand(self: Any, node_id: NodeId) -> Any:
        is_needless = self.proposal is not None or node_id in self.isr
        return () if is_needless else (self._propose({*self.isr, node_id}),)

    patch.setattr(PartitionLeader, "_expand", expand)


def broker_epochs_are_not_checked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        alter_partition, "_is_eligible", lambda image, member: image.brokers[member.broker_id].is_active
    )


def fenced_members_are_accepted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(alter_partition, "_is_eligible", lambda *_: True)


def partition_epochs_are_not_checked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(alter_partition, "_stale", lambda *_: None)


def lost_records_are_not_told(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(broker_registration, "lost_partitions", lambda *_: frozenset())


def everybody_stays_eligible(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(partition_change, "_can_commit", lambda *_: False)


def lower_minimum_leaves_eligibility(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cluster_model, "with_eligibility", lambda _, records: records)


BUGS: tuple[Plant, ...] = (
    fetch_before_flush,
    cut_at_the_high_watermark,
    no_divergence_check,
    no_leader_epoch_check,
    late_answers_are_taken_for_new_ones,
    proposed_members_are_not_waited_for,
    refused_members_are_forgotten_at_once,
    answer_counts_before_the_log_says_so,
    commits_below_the_minimum,
    anybody_who_fetches_is_let_in,
    broker_epochs_are_not_checked,
    fenced_members_are_accepted,
    partition_epochs_are_not_checked,
    lost_records_are_not_told,
    everybody_stays_eligible,
    lower_minimum_leaves_eligibility,
)


def is_told_by(story: Callable[[], None]) -> bool:
    try:
        story()
    except (AssertionError, PenstockError):
        return True
    return False


@pytest.mark.parametrize("plant", BUGS, ids=lambda plant: plant.__name__)
def test_planted_bug_is_told_by_a_story(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert any(is_told_by(story) for story in STORIES)
