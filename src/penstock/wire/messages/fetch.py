"""Fetch (key 1): read record batches, waiting for them if need be; clients and followers both use it.

Version notes: 4 isolation level; 5 log start offset; 7 fetch sessions; 9 current leader epoch; 10 zstd;
11 rack and preferred replica; 12 flexible, divergence detection; 13 topics by id; 15 the replica's id moves
into a tag; 16 leaders' endpoints; 17 replica directory; 18 the follower's high watermark.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import (
    INT8,
    INT16,
    INT32,
    INT64,
    RECORDS,
    STRING,
    TOPIC_ID,
    UUID,
    RecordsPayload,
)
from penstock.wire.schema import Struct, array, field, nullable, nullable_array, struct

UNKNOWN_HIGH_WATERMARK = 0x7FFF_FFFF_FFFF_FFFF
"""What a follower that does not say its high watermark is taken to have said."""


class ReplicaState(Struct):
    """Who is asking, if it is a replica."""

    replica_id: int = field(INT32, default=-1)
    replica_epoch: int = field(INT64, default=-1)


class FetchPartition(Struct):
    """From where to read one partition, and how much at most."""

    partition: int = field(INT32)
    current_leader_epoch: int = field(INT32, "9+", default=-1)
    fetch_offset: int = field(INT64)
    last_fetched_epoch: int = field(INT32, "12+", default=-1)
    log_start_offset: int = field(INT64, "5+", default=-1)
    partition_max_bytes: int = field(INT32)
    replica_directory_id: bytes = field(UUID, "17+", tag=0)
    high_watermark: int = field(INT64, "18+", default=UNKNOWN_HIGH_WATERMARK, tag=1)


class FetchTopic(Struct):
    """A topic to read; by name until version 12, by id since."""

    topic: str = field(STRING, "0-12")
    topic_id: TopicId = field(TOPIC_ID, "13+")
    partitions: tuple[FetchPartition, ...] = array(FetchPartition)


class ForgottenTopic(Struct):
    """Partitions to drop from the fetch session."""

    topic: str = field(STRING, "7-12")
    topic_id: TopicId = field(TOPIC_ID, "13+")
    partitions: tuple[int, ...] = array(INT32, "7+")


class FetchRequest(Struct):
    """Read these partitions, or within a session those that changed."""

    cluster_id: str | None = nullable(STRING, "12+", tag=0)
    replica_id: int = field(INT32, "0-14", default=-1)
    replica_state: ReplicaState = struct(ReplicaState, "15+", tag=1)
    max_wait_ms: int = field(INT32)
    min_bytes: int = field(INT32)
    max_bytes: int = field(INT32, "3+", default=0x7FFF_FFFF)
    isolation_level: int = field(INT8, "4+")
    session_id: int = field(INT32, "7+")
    session_epoch: int = field(INT32, "7+", default=-1)
    topics: tuple[FetchTopic, ...] = array(FetchTopic)
    forgotten_topics_data: tuple[ForgottenTopic, ...] = array(ForgottenTopic, "7+")
    rack_id: str = field(STRING, "11+")


class EpochEndOffset(Struct):
    """Where the follower's log and the leader's part ways."""

    epoch: int = field(INT32, default=-1)
    end_offset: int = field(INT64, default=-1)


class FetchLeader(Struct):
    """Who leads the partition now, for a client that asked the wrong broker."""

    leader_id: int = field(INT32, default=-1)
    leader_epoch: int = field(INT32, default=-1)


class SnapshotId(Struct):
    """The snapshot a metadata follower must load first."""

    end_offset: int = field(INT64, default=-1)
    epoch: int = field(INT32, default=-1)


class AbortedTransaction(Struct):
    """A transaction whose records in this answer a read-committed consumer must drop."""

    producer_id: int = field(INT64)
    first_offset: int = field(INT64)


class PartitionData(Struct):
    """What was read from one partition, or why nothing was."""

    partition_index: int = field(INT32)
    error_code: int = field(INT16)
    high_watermark: int = field(INT64)
    last_stable_offset: int = field(INT64, "4+", default=-1)
    log_start_offset: int = field(INT64, "5+", default=-1)
    diverging_epoch: EpochEndOffset = struct(EpochEndOffset, "12+", tag=0)
    current_leader: FetchLeader = struct(FetchLeader, "12+", tag=1)
    snapshot_id: SnapshotId = struct(SnapshotId, "12+", tag=2)
    aborted_transactions: tuple[AbortedTransaction, ...] | None = nullable_array(AbortedTransaction, "4+")
    preferred_read_replica: int = field(INT32, "11+", default=-1)
    records: RecordsPayload | None = nullable(RECORDS)


class FetchableTopicResponse(Struct):
    """What was read from one topic."""

    topic: str = field(STRING, "0-12")
    topic_id: TopicId = field(TOPIC_ID, "13+")
    partitions: tuple[PartitionData, ...] = array(PartitionData)


class FetchNodeEndpoint(Struct):
    """Where a leader named in the response can be reached."""

    node_id: int = field(INT32)
    host: str = field(STRING)
    port: int = field(INT32)
    rack: str | None = nullable(STRING)


class FetchResponse(Struct):
    """What was read; within a session only partitions with something to tell."""

    throttle_time_ms: int = field(INT32, "1+")
    error_code: int = field(INT16, "7+")
    session_id: int = field(INT32, "7+")
    responses: tuple[FetchableTopicResponse, ...] = array(FetchableTopicResponse)
    node_endpoints: tuple[FetchNodeEndpoint, ...] = array(FetchNodeEndpoint, "16+", tag=0)
