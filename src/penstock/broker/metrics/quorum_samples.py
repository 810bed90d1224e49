"""Metrics of the quorum that decides on metadata."""

from collections.abc import Iterator

from penstock.broker.metrics import table
from penstock.broker.metrics.metric import Family, Metric
from penstock.broker.quorum.quorum import Quorum
from penstock.metadata.describe_quorum import QuorumFacts, QuorumMember

_UNKNOWN = -1


def quorum_families(quorum: Quorum) -> Iterator[Family]:
    """What this node knows of it."""
    facts = quorum.facts()
    values: dict[Metric, int] = {
        table.ACTIVE_CONTROLLER: int(quorum.is_leader),
        table.RAFT_TERM: facts.leader_epoch,
        table.RAFT_LEADER: facts.leader_id,
        table.RAFT_IS_VOTER: int(quorum.key in quorum.voters.keys),
        table.RAFT_VOTERS: len(facts.voters),
        table.RAFT_COMMIT_OFFSET: facts.high_watermark,
        table.RAFT_END_OFFSET: quorum.log.log_end_offset,
        table.RAFT_APPLIED_OFFSET: quorum.applied_offset,
        table.RAFT_ELECTIONS: quorum.counts.elections,
        table.RAFT_LEADER_CHANGES: quorum.counts.leader_changes,
    }
    for metric, value in values.items():
        yield Family(metric, [("", value)])
    if quorum.is_leader:
        yield _lags(quorum, facts)


def _lags(quorum: Quorum, facts: QuorumFacts) -> Family:
    end_offset = quorum.log.log_end_offset
    members = (*facts.voters, *facts.observers)
    return Family(
        table.RAFT_LAG,
        [(table.RAFT_LAG.series(each.node_id), _lag(each, end_offset)) for each in members],
    )


def _lag(member: QuorumMember, end_offset: int) -> int:
    known = member.log_end_offset
    return _UNKNOWN if known == _UNKNOWN else max(0, end_offset - known)
