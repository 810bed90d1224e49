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
    caught_up_at: int | None
    if key == node.key:
        # Others may have on disk what our own disk is still writing: nobody is ahead of the leader.
        end_offset, heard_at, caught_up_at = node.log.end_offset, now, now
    else:
        progress = None if node.leadership is None else node.leadership.progress_of(key)
        if progress is None:
            return QuorumMember(node_id=key.node_id, directory_id=key.directory_id)
        end_offset, heard_at, caught_up_at = progress.match_offset, progress.heard_at, progress.caught_up_at
    since_wall_ms = wall_ms - now
    return QuorumMember(
        node_id=key.node_id,
        directory_id=key.directory_id,
        log_end_offset=end_offset,
        last_fetch_ms=since_wall_ms + heard_at,
        last_caught_up_ms=UNKNOWN if caught_up_at is None else since_wall_ms + caught_up_at,
    )
