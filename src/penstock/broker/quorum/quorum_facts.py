"""What is to be told of the quorum, as far as this node knows it."""

from penstock.metadata.describe_quorum import UNKNOWN, QuorumFacts, QuorumMember
from penstock.model.ids import NodeId
from penstock.raft.node import RaftNode
from penstock.raft.replica import ReplicaKey

NOBODY_LEADS = NodeId(-1)


def quorum_facts(node: RaftNode, *, wall_ms: int, now: int) -> QuorumFacts:
    """A leader's facts are complete; anybody else knows who votes and leads."""
    leadership = node.leadership
    return QuorumFacts(
        leader_id=NOBODY_LEADS if node.leader is None else node.leader.node_id,
        leader_epoch=node.term,
        high_watermark=node.commit_offset,
        voters=tuple(_member(node, key, wall_ms=wall_ms, now=now) for key in node.voters.keys),
        observers=tuple(
            _member(node, key, wall_ms=wall_ms, now=now)
            for key in (() if leadership is None else leadership.observers)
        ),
    )


def _member(node: RaftNode, key: ReplicaKey, *, wall_ms: int, now: int) -> QuorumMember:
    if key == node.key:
        end_offset, heard_at = node.durable_end_offset, now
    else:
        progress = None if node.leadership is None else node.leadership.progress_of(key)
        if progress is None:
            return QuorumMember(node_id=key.node_id, directory_id=key.directory_id)
        end_offset, heard_at = progress.match_offset, progress.heard_at
    heard_ms = wall_ms - (now - heard_at)
    return QuorumMember(
        node_id=key.node_id,
        directory_id=key.directory_id,
        log_end_offset=end_offset,
        last_fetch_ms=heard_ms,
        last_caught_up_ms=heard_ms if end_offset >= node.commit_offset else UNKNOWN,
    )
