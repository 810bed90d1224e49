"""Mistakes that people make with replication: in leaders, in followers, and in who may lead.

Each of them loses what was acknowledged, or lets two replicas differ for ever, if a cluster is unlucky.
"""

from typing import Any

from penstock.broker.replication import replica_session
from penstock.broker.replication.follower_shell import FollowerShell
from penstock.metadata import alter_partition, broker_registration, leadership, partition_change
from penstock.metadata.partition_change import Election
from penstock.model.ids import NodeId
from penstock.replication.follower import PartitionFollower
from penstock.replication.in_sync_set import InSyncSet
from penstock.replication.leader import PartitionLeader
from penstock.sim.planting import Bug, Function, Swap, always, nothing


def _promise_unflushed(original: Function) -> Function:
    def fetch_position(self: PartitionFollower, now: Any) -> object:
        flushed, self._flushed = self._flushed, self._end
        try:
            return original(self, now)
        finally:
            self._flushed = flushed

    return fetch_position


def _wait_for_no_flush(original: Function) -> Function:
    def go_on(self: FollowerShell) -> None:
        if not self._is_stopped and not self.partition.is_being_cut:
            self._owner.ready(self)

    return go_on


def _cut_at_high_watermark(original: Function) -> Function:
    def where_to_cut(self: PartitionFollower, leaders: Any) -> int:
        return max(self._log_start, self._high_watermark)

    return where_to_cut


def _believe_late_answers(original: Function) -> Function:
    def fetch_answered(self: PartitionFollower, event: Any) -> object:
        return original(self, type(event)(**{**_fields(event), "asked": self._asked}))

    return fetch_answered


def _fields(event: Any) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__slots__}


def _count_nobody_else(original: Function) -> Function:
    def advance(self: PartitionLeader) -> object:
        followers, self._followers = self._followers, {}
        try:
            return original(self)
        finally:
            self._followers = followers

    return advance


def _drop_the_silent(original: Function) -> Function:
    """Count only who fetched lately, whatever the controller says."""

    def advance(self: PartitionLeader) -> object:
        followers = self._followers
        self._followers = {node_id: each for node_id, each in followers.items() if each.is_close}
        try:
            return original(self)
        finally:
            self._followers = followers

    return advance


def _end_is_committed(original: property) -> property:
    return property(lambda self: self._flushed)


def _forget_to_stop(original: Function) -> Function:
    def stop(self: FollowerShell) -> None:
        return None

    return stop


def _members_only(original: property) -> property:
    return property(lambda self: self.members)


def _commit_below_minimum(original: property) -> property:
    return property(lambda self: 1)


def _let_anybody_in(original: Function) -> Function:
    def expand(self: PartitionLeader, node_id: NodeId) -> object:
        is_needless = self.proposal is not None or node_id in self.isr or not self._is_eligible(node_id)
        return () if is_needless else (self._propose({*self.isr, node_id}),)

    return expand


def _forget_epoch_start(original: Function) -> Function:
    def expand(self: PartitionLeader, node_id: NodeId) -> object:
        start, self._epoch_start = self._epoch_start, self._high_watermark
        try:
            return original(self, node_id)
        finally:
            self._epoch_start = start

    return expand


def _any_process(original: Function) -> Function:
    def is_eligible(image: Any, member: Any) -> bool:
        broker = image.brokers.get(member.broker_id)
        return broker is not None and broker.is_active

    return is_eligible


def _always_unclean(original: Function) -> Function:
    def circumstances_in(*arguments: Any, **options: Any) -> object:
        return original(*arguments, **{**options, "election": options.get("election") or Election.UNCLEAN})

    return circumstances_in


def _believe_answer(original: Function) -> Function:
    def proposal_answered(self: PartitionLeader, event: Any) -> object:
        if event.error_code:
            return original(self, event)
        self._in_sync.log_says([node_id for node_id, _ in event.proposal.members], has_moved=True)
        return self._advance()

    return proposal_answered


BUGS: dict[str, Bug] = {
    "follower-promises-unflushed": Bug(
        "a follower asks for what follows records that are not on its disk yet",
        (
            Swap(PartitionFollower, "fetch_position", _promise_unflushed),
            Swap(FollowerShell, "_go_on", _wait_for_no_flush),
        ),
    ),
    "cut-at-high-watermark": Bug(
        "a follower that left the leader's log cuts its own at its high watermark (KIP-101)",
        (Swap(PartitionFollower, "_where_to_cut", _cut_at_high_watermark),),
    ),
    "late-answers-believed": Bug(
        "a follower takes any answer for the one to its last fetch",
        (Swap(PartitionFollower, "_fetch_answered", _believe_late_answers),),
    ),
    "leader-epochs-unchecked": Bug(
        "fetches of another leader epoch are answered", (Swap(PartitionLeader, "check_fetch", nothing),)
    ),
    "stale-fetches-believed": Bug(
        "both of these at once: leaders and followers of different epochs take each other's word",
        (
            Swap(PartitionFollower, "_fetch_answered", _believe_late_answers),
            Swap(PartitionLeader, "check_fetch", nothing),
        ),
    ),
    "divergence-unchecked": Bug(
        "a leader does not look whether a follower has left its log",
        (Swap(replica_session, "diverging_epoch", always(None)),),
    ),
    "followers-show-too-much": Bug(
        "consumers that ask a follower are shown what is not committed",
        (Swap(PartitionFollower, "high_watermark", _end_is_committed),),
    ),
    "copies-unchecked": Bug(
        "what a leader sends is appended by a follower that does not follow it any more",
        (Swap(FollowerShell, "stop", _forget_to_stop),),
    ),
    "leader-commits-alone": Bug(
        "the high watermark is the leader's own end", (Swap(PartitionLeader, "_advance", _count_nobody_else),)
    ),
    "silent-members-dropped": Bug(
        "a leader goes on without members of the in-sync set that are silent, and asks nobody",
        (Swap(PartitionLeader, "_advance", _drop_the_silent),),
    ),
    "proposed-members-unheard": Bug(
        "members that were proposed to the controller are not waited for",
        (Swap(InSyncSet, "maximal", _members_only),),
    ),
    "answer-counts-at-once": Bug(
        "the controller's answer changes the in-sync set, before the metadata log does",
        (Swap(PartitionLeader, "_proposal_answered", _believe_answer),),
    ),
    "minimum-ignored": Bug(
        "records are committed with fewer in sync than min.insync.replicas asks for",
        (
            Swap(PartitionLeader, "min_insync_replicas", _commit_below_minimum),
            Swap(PartitionLeader, "check_still_enough_replicas", nothing),
        ),
    ),
    "anybody-let-in": Bug(
        "whoever fetches is proposed for the in-sync set",
        (Swap(PartitionLeader, "_expand", _let_anybody_in),),
    ),
    "epoch-start-forgotten": Bug(
        "a follower is proposed that has not got what the leader began with",
        (Swap(PartitionLeader, "_expand", _forget_epoch_start),),
    ),
    "broker-epochs-unchecked": Bug(
        "a process that has restarted since is taken for the one that was in sync (KIP-903)",
        (Swap(alter_partition, "_is_eligible", _any_process),),
    ),
    "fenced-members-accepted": Bug(
        "brokers that are fenced may be in sync", (Swap(alter_partition, "_is_eligible", always(True)),)
    ),
    "partition-epochs-unchecked": Bug(
        "changes of the in-sync set that crossed another are taken",
        (Swap(alter_partition, "_stale", nothing),),
    ),
    "losses-not-told": Bug(
        "a broker that lost records from its disk stays eligible",
        (Swap(broker_registration, "lost_partitions", always(frozenset())),),
    ),
    "everybody-eligible": Bug(
        "whoever was once in sync stays eligible", (Swap(partition_change, "_can_commit", always(False)),)
    ),
    "always-unclean": Bug(
        "somebody leads rather than nobody, whatever is lost",
        (Swap(leadership, "circumstances_in", _always_unclean),),
    ),
}
