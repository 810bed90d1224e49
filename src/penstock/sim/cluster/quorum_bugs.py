"""Mistakes that people make around a quorum: what is durable when, who leads already, who is in office."""

from typing import Any

from penstock.broker.coordination import shard_host
from penstock.broker.coordination.shard_host import ShardHost
from penstock.broker.quorum.proposals import Proposals
from penstock.broker.quorum.quorum import Quorum
from penstock.broker.quorum.quorum_disk import QuorumDisk
from penstock.broker.quorum.raft_driver import RaftDriver
from penstock.metadata.liveness import BrokerLiveness
from penstock.raft.output import Accepted
from penstock.sim.planting import Bug, Function, Swap, always
from penstock.storage.producer_state import NO_COORDINATOR_EPOCH, ProducerStates


def _report_state_first(original: Function) -> Function:
    async def write_state(self: QuorumDisk, round_: Any, state: Any) -> None:
        round_.is_state_written = True
        self._end_round_if_done()
        await original(self, round_, state)

    return write_state


def _send_at_once(original: Function) -> Function:
    def release(self: RaftDriver) -> None:
        settled, self._settled = self._settled, self._issued
        try:
            original(self)
        finally:
            self._settled = settled

    return release


def _apply_appended(original: Function) -> Function:
    def appended(self: Quorum, entries: Any) -> None:
        original(self, entries)
        if entries:
            self._keeper.committed(entries[-1].end_offset)

    return appended


def _answer_accepted(original: Function) -> Function:
    def answered(self: Proposals, answer: Any) -> None:
        proposal = self._waiting.get(answer.token)
        original(self, answer)
        if isinstance(answer, Accepted) and proposal is not None:
            proposal.finish(answer)

    return answered


def _lead_at_once(original: property) -> property:
    return property(lambda self: self._node.leadership is not None and not self._is_stopped)


def _believe_any_commit(original: property) -> property:
    def is_caught_up(self: Quorum) -> bool:
        known = self._leader_commit_offset
        return self.is_leader or (known is not None and self.applied_offset >= known)

    return property(is_caught_up)


def _settled_at_once(original: Function) -> Function:
    async def until_settled(partition: Any) -> None:
        return None

    return until_settled


def _stay_in_office(original: property) -> property:
    return property(lambda self: self.partition.is_leader)


def _any_coordinator(original: Function) -> Function:
    def check_marker(self: ProducerStates, marker: Any) -> object:
        producer = self.get(marker.producer_id)
        if producer is not None:
            producer.coordinator_epoch = NO_COORDINATOR_EPOCH
        return original(self, marker)

    return check_marker


BUGS: dict[str, Bug] = {
    "vote-reported-early": Bug(
        "a vote counts as written down when the write has only begun",
        (Swap(QuorumDisk, "_write_state", _report_state_first),),
    ),
    "promises-before-disk": Bug(
        "answers of the quorum leave before what they promise is on disk",
        (Swap(RaftDriver, "_release", _send_at_once),),
    ),
    "applied-uncommitted": Bug(
        "metadata is applied when it is appended, committed or not",
        (Swap(Quorum, "appended", _apply_appended),),
    ),
    "answered-uncommitted": Bug(
        "changes of metadata are answered when the leader has taken them up",
        (Swap(Proposals, "answered", _answer_accepted),),
    ),
    "controller-too-soon": Bug(
        "a leader decides before it knows all that was decided before it",
        (Swap(Quorum, "is_leader", _lead_at_once),),
    ),
    "any-commit-believed": Bug(
        "a starting broker takes what a new leader knows to be committed for everything",
        (Swap(Quorum, "is_caught_up", _believe_any_commit),),
    ),
    "sessions-never-end": Bug(
        "brokers that are silent are never shut out", (Swap(BrokerLiveness, "expired", always(())),)
    ),
    "coordinator-loads-too-soon": Bug(
        "a coordinator reads its log before all of it is committed",
        (Swap(shard_host, "until_settled", _settled_at_once),),
    ),
    "coordinator-outlives-its-epoch": Bug(
        "a shard goes on in an epoch that it was not loaded in",
        (Swap(ShardHost, "is_in_office", _stay_in_office),),
    ),
    "markers-of-any-coordinator": Bug(
        "the end of a transaction is written for a coordinator that was replaced",
        (Swap(ProducerStates, "check_marker", _any_coordinator),),
    ),
}
