"""The offsets of a group: asking for them and committing them, with or without a transaction."""

from collections.abc import Mapping
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.sim.workloads.client import Client
from penstock.sim.workloads.producing import GROUP
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)

COMMIT_VERSION = 8
FETCH_VERSION = 8


async def fetch_offsets(
    client: Client, group: str, topic: str, partitions: tuple[int, ...]
) -> dict[int, int] | ErrorCode:
    """The committed offset of each partition, -1 without one; an error while any of them is undecided."""
    wanted = OffsetFetchRequestTopics(name=topic, partition_indexes=partitions)
    request = OffsetFetchRequest(
        groups=(OffsetFetchRequestGroup(group_id=group, topics=(wanted,)),), require_stable=True
    )
    answer = await client.ask_coordinator(GROUP, group, request, FETCH_VERSION)
    (found,) = answer.groups
    if found.error_code:
        return ErrorCode(found.error_code)
    offsets: dict[int, int] = {}
    for each in found.topics[0].partitions:
        if each.error_code:
            return ErrorCode(each.error_code)
        offsets[each.partition_index] = each.committed_offset
    return offsets


def commit_request(
    group: str, topic: str, offsets: Mapping[int, int], *, member_id: str, generation: int
) -> OffsetCommitRequest:
    """Commit as a member."""
    partitions = tuple(
        OffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
        for index, offset in offsets.items()
    )
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member_id,
        topics=(OffsetCommitRequestTopic(name=topic, partitions=partitions),),
    )


def commit_code(answer: Any) -> int:
    """The first error of a commit, if any."""
    codes = [partition.error_code for topic in answer.topics for partition in topic.partitions]
    return next((code for code in codes if code), int(ErrorCode.NONE))
