"""Asking a leader where its logs begin and end, for followers whose fetch was out of its range."""

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from penstock.broker.peers.peer_error import PeerError
from penstock.broker.replication.follower_shell import FollowerShell
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId, TopicPartition
from penstock.replication.follower_events import FetchFrom
from penstock.wire.messages.list_offsets import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

LIST_OFFSETS_VERSION = 9


async def ask_leader_offsets(
    broker: "Broker", leader: NodeId, asking: Mapping[FollowerShell, FetchFrom]
) -> None:
    """Ask for all of them at once, and tell each what came of it."""
    starts: Mapping[TopicPartition, int] = {}
    ends: Mapping[TopicPartition, int] = {}
    try:
        starts = await _ask(broker, leader, asking, EARLIEST_TIMESTAMP)
        ends = await _ask(broker, leader, asking, LATEST_TIMESTAMP)
    except PeerError:
        # All try again after a rest; it is the fetcher that tells of a leader that does not answer.
        ends = {}
    for shell, asked in asking.items():
        start, end = starts.get(_name(shell)), ends.get(_name(shell))
        if start is None or end is None:
            shell.offsets_failed(asked)
        else:
            shell.offsets_received(asked, log_start_offset=start, log_end_offset=end)


async def _ask(
    broker: "Broker", leader: NodeId, asking: Mapping[FollowerShell, FetchFrom], timestamp: int
) -> Mapping[TopicPartition, int]:
    wanted = sorted((_name(shell), asked.current_leader_epoch) for shell, asked in asking.items())
    request = ListOffsetsRequest(
        replica_id=broker.node_id,
        topics=tuple(
            ListOffsetsTopic(
                name=topic,
                partitions=tuple(
                    ListOffsetsPartition(
                        partition_index=name.partition, current_leader_epoch=epoch, timestamp=timestamp
                    )
                    for name, epoch in group
                ),
            )
            for topic, group in groupby(wanted, lambda each: each[0].topic)
        ),
    )
    seconds_max = broker.config.integer("replica.socket.timeout.ms") / 1000
    response = await broker.peers.ask(leader, request, LIST_OFFSETS_VERSION, seconds_max=seconds_max)
    return {
        TopicPartition(topic.name, found.partition_index): found.offset
        for topic in response.topics
        for found in topic.partitions
        if found.error_code == ErrorCode.NONE
    }


def _name(shell: FollowerShell) -> TopicPartition:
    return TopicPartition(shell.partition.topic, shell.partition.index)
