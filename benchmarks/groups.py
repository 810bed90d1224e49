"""What groups cost: ``python benchmarks/groups.py``.

A rebalance is timed from the last member's request to the last member's assignment, in a group whose members
are connections of their own. A restart is timed from before the process exists until an offset has been read
back from every shard of ``__consumer_offsets``. Nothing is asserted but that the answers are right.
"""

import argparse
import asyncio
import itertools
import signal
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from group_wire import ClassicMember, ModernMember, WireConnection, check
from report import new_parser, report
from subjects import PenstockProcess
from table import Line

from penstock.bench.connection import parse_address
from penstock.bench.topics import create_topic
from penstock.coordinator.partitioning import partition_for
from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup

SUBJECT = "penstock"
ROUNDS = 5
PARTITIONS_PER_MEMBER = 2
HEARTBEAT_MS = 100
SHARDS = 50
LOADERS = 25
REBALANCE_SECONDS_ASKED = 1.0
RESTART_SECONDS_ASKED = 5.0
TOPIC = "grouped"
COMMIT_VERSION, FETCH_VERSION, FIND_VERSION = 9, 9, 3
RETRIED = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


def main() -> None:
    """Measure, print, and write what was asked for."""
    report(_all_lines, _options())


def _options() -> argparse.Namespace:
    parser = new_parser(__doc__)
    add = parser.add_argument
    add("--members", type=int, default=100, help="of the group that rebalances (default: 100)")
    add("--groups", type=int, default=10_000, help="with offsets, at the restart (default: 10,000)")
    add("--offsets", type=int, default=10, help="of each of them (default: 10)")
    return parser.parse_args()


def _all_lines(directory: Path, options: argparse.Namespace) -> Iterator[Line]:
    settings = {"group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS)}
    with PenstockProcess(directory / "rebalance", settings) as process:
        server, members = process.bootstrap_server, options.members
        address = parse_address(server)
        create_topic(address, TOPIC, partitions=members * PARTITIONS_PER_MEMBER, configs={})
        _say(f"rebalances of {members} classic members")
        seconds = asyncio.run(classic_rebalances(server, members))
        title = f"rebalance of a classic group of {members}, all have joined"
        yield _line("classic-rebalance", title, seconds, REBALANCE_SECONDS_ASKED)
        _say(f"{members} members of the consumer protocol")
        convergences = asyncio.run(modern_convergences(server, members))
        title = f"{members} members of the consumer protocol join at once, each has its partitions"
        times = [one.seconds for one in convergences]
        yield _line("modern-join", title, times, REBALANCE_SECONDS_ASKED)
    with PenstockProcess(directory / "restart") as process:
        yield from _restart_lines(process, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Convergence:
    """How long it took, and how many heartbeats."""

    seconds: float
    heartbeats: int


async def classic_rebalances(server: str, count: int) -> list[float]:
    """Seconds of each round of a group that has been formed."""
    members = [ClassicMember(await WireConnection.open(server), "classic", TOPIC) for _ in range(count)]
    await _find_coordinator(members[0].connection, "classic")
    await asyncio.gather(*[member.introduce() for member in members])
    partitions = count * PARTITIONS_PER_MEMBER
    seconds = []
    for number in range(ROUNDS + 1):
        # The leader begins: a round starts with it, and joins of others then belong to the same one.
        for member in sorted(members, key=lambda one: not one.is_leader):
            member.send_join()
        began = time.perf_counter()
        await asyncio.gather(*[member.finish_round(partitions) for member in members])
        if number > 0:  # The first waits for more members to come, on purpose.
            seconds.append(time.perf_counter() - began)
        assert all(member.assignment for member in members), "a member got nothing"
    await _close([member.connection for member in members])
    return seconds


async def modern_convergences(server: str, count: int) -> list[Convergence]:
    """Of groups that are formed by all their members at once."""
    found = []
    for number in range(ROUNDS):
        group = f"modern-{number}"
        members = [
            ModernMember(await WireConnection.open(server), group, TOPIC, f"member-{number}-{index}")
            for index in range(count)
        ]
        await _find_coordinator(members[0].connection, group)
        for member in members:
            member.send_join()
        began = time.perf_counter()
        is_settled = asyncio.Event()
        await asyncio.gather(*[_live(member, members, is_settled) for member in members])
        seconds = time.perf_counter() - began
        found.append(Convergence(seconds=seconds, heartbeats=sum(member.heartbeats for member in members)))
        await _close([member.connection for member in members])
    return found


async def _live(member: ModernMember, members: Sequence[ModernMember], is_settled: asyncio.Event) -> None:
    """Heartbeat at once when something changed, otherwise at the interval, until everybody is served."""
    has_changed = await member.take_answer()
    while not is_settled.is_set():
        if all(one.partition_count == PARTITIONS_PER_MEMBER for one in members):
            owned = [(topic, n) for one in members for topic, numbers in one.owned.items() for n in numbers]
            assert len(owned) == len(set(owned)), "a partition has two owners"
            is_settled.set()
            return
        if not has_changed:
            await asyncio.sleep(HEARTBEAT_MS / 1000)
        has_changed = await member.heartbeat()


def _restart_lines(process: PenstockProcess, options: argparse.Namespace) -> Iterator[Line]:
    groups, offsets = options.groups, options.offsets
    address = parse_address(process.bootstrap_server)
    create_topic(address, TOPIC, partitions=offsets, configs={})
    _say(f"commits of {groups} groups")
    asyncio.run(commit_everywhere(process.bootstrap_server, groups, offsets))
    for how, number in (("a clean stop", signal.SIGTERM), ("kill -9", signal.SIGKILL)):
        _say(f"restart after {how}")
        process.stop(number)
        began = time.perf_counter()
        process.start()
        asyncio.run(fetch_everywhere(process.bootstrap_server, groups, offsets))
        seconds = time.perf_counter() - began
        title = f"{groups:,} groups with {groups * offsets:,} offsets, every shard answers after {how}"
        yield _line(f"restart-{number.name.lower()}", title, [seconds], RESTART_SECONDS_ASKED)
        yield Line(
            key=f"restart-{number.name.lower()}-cpu",
            title=title,
            subject=f"{SUBJECT}, processor time",
            value=process.cpu_seconds(),
            unit="s",
        )


async def commit_everywhere(server: str, groups: int, offsets: int) -> None:
    """Offsets of many groups, from outside them, over a few connections."""
    connections = [await WireConnection.open(server) for _ in range(LOADERS)]
    await _find_coordinator(connections[0], _group(0))

    async def load(connection: WireConnection, first: int) -> None:
        for number in range(first, groups, LOADERS):
            await _commit(connection, number, offsets)

    await asyncio.gather(*[load(one, first) for first, one in enumerate(connections)])
    await _close(connections)


async def _commit(connection: WireConnection, number: int, offsets: int) -> None:
    partitions = tuple(
        OffsetCommitRequestPartition(partition_index=index, committed_offset=number + index)
        for index in range(offsets)
    )
    request = OffsetCommitRequest(
        group_id=_group(number), topics=(OffsetCommitRequestTopic(name=TOPIC, partitions=partitions),)
    )
    while True:
        answer = await connection.call(ApiKey.OFFSET_COMMIT, COMMIT_VERSION, request)
        codes = {one.error_code for topic in answer.topics for one in topic.partitions}
        if not codes & set(RETRIED):
            break
        await asyncio.sleep(0.01)
    for code in codes:
        check(code)


async def fetch_everywhere(server: str, groups: int, offsets: int) -> None:
    """Until one group of every shard has been told its offsets, each shard asked on its own."""
    by_shard = {partition_for(_group(number), SHARDS): number for number in range(groups)}
    connections = [await WireConnection.open(server) for _ in by_shard]
    pairs = zip(connections, by_shard.values(), strict=True)
    await asyncio.gather(*[_fetch(connection, number, offsets) for connection, number in pairs])
    await _close(connections)


async def _fetch(connection: WireConnection, number: int, offsets: int) -> None:
    await _find_coordinator(connection, _group(number))
    request = OffsetFetchRequest(groups=(OffsetFetchRequestGroup(group_id=_group(number), topics=None),))
    while True:
        answer = await connection.call(ApiKey.OFFSET_FETCH, FETCH_VERSION, request)
        (group,) = answer.groups
        if group.error_code not in RETRIED:
            break
        await asyncio.sleep(0.05)
    check(group.error_code)
    found = sorted(one.committed_offset for topic in group.topics for one in topic.partitions)
    assert found == [number + index for index in range(offsets)], f"{_group(number)} has {found}"


async def _find_coordinator(connection: WireConnection, group: str) -> None:
    """The first time, this makes the topic of offsets."""
    for _ in itertools.repeat(None, 1000):
        answer = await connection.call(
            ApiKey.FIND_COORDINATOR, FIND_VERSION, FindCoordinatorRequest(key=group)
        )
        if answer.error_code not in RETRIED:
            check(answer.error_code)
            return
        await asyncio.sleep(0.01)


async def _close(connections: Sequence[WireConnection]) -> None:
    await asyncio.gather(*[connection.close() for connection in connections])


def _group(number: int) -> str:
    return f"group-{number}"


def _line(key: str, title: str, seconds: Sequence[float], bound: float) -> Line:
    value = statistics.median(seconds)
    return Line(
        key=key,
        title=title,
        subject=SUBJECT,
        value=value,
        unit="s",
        target=f"under {bound:g} s",
        ratio=bound / value,
        details={"seconds": list(seconds)},
    )


def _say(what: str) -> None:
    print(f"... {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
