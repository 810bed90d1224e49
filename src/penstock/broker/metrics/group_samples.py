"""Metrics of consumer groups: how far they are, and how far behind, in messages and in time.

The coordinator of a group tells them. Its lag is made of what the group has committed and of where partitions
end (``positions``).
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, NamedTuple

from penstock.broker.metrics import table
from penstock.broker.metrics.metric import Family
from penstock.broker.metrics.pace import Pace
from penstock.broker.metrics.positions import Positions
from penstock.groups.group_summary import GroupSummary
from penstock.groups.shard import GroupShard
from penstock.model.ids import TopicPartition

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


class _Progress(NamedTuple):
    """One group in one partition."""

    series: str
    group_id: str
    topic: str
    offset: int
    #: None when nobody knows where the partition ends, or when.
    lag: int | None
    lag_seconds: float | None


class GroupSamples:
    """Those of the groups that one broker coordinates."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._positions = Positions(broker)

    async def families(self, pace: Pace) -> AsyncIterator[Family]:
        """Everything about groups."""
        summaries = [each async for chunk in pace.chunks(self._summaries()) for each in chunk]
        await self._positions.look(_wanted(summaries), pace)
        progress = [each async for chunk in pace.chunks(self._progress(summaries)) for each in chunk]
        for family in _families(summaries, progress):
            yield family

    def _summaries(self) -> Iterator[GroupSummary]:
        for host in self._broker.groups.hosts:
            if isinstance(host.shard, GroupShard):
                yield from host.shard.summaries()

    def _progress(self, summaries: list[GroupSummary]) -> Iterator[_Progress]:
        now = self._broker.clock.wall_ms()
        for group in summaries:
            for partition, offset in group.offsets.items():
                lag = self._lag(partition, offset)
                yield _Progress(
                    series=table.GROUP_LAG.series(group.group_id, *partition),
                    group_id=group.group_id,
                    topic=partition.topic,
                    offset=offset,
                    lag=lag,
                    lag_seconds=None if lag is None else self._lag_seconds(partition, offset, lag, now=now),
                )

    def _lag(self, partition: TopicPartition, offset: int) -> int | None:
        """A follower may not have heard yet that what the group has read is committed: then it is 0."""
        end = self._positions.end_of(partition)
        return None if end is None else max(0, end - offset)

    def _lag_seconds(self, partition: TopicPartition, offset: int, lag: int, *, now: int) -> float | None:
        if not lag:
            return 0.0
        timestamp = self._positions.timestamp_of(partition, offset)
        return None if timestamp is None else max(0, now - timestamp) / 1000


def _wanted(summaries: list[GroupSummary]) -> dict[TopicPartition, set[int]]:
    wanted: dict[TopicPartition, set[int]] = {}
    for group in summaries:
        for partition, offset in group.offsets.items():
            wanted.setdefault(partition, set()).add(offset)
    return wanted


def _families(summaries: list[GroupSummary], progress: list[_Progress]) -> Iterator[Family]:
    yield _states(summaries)
    yield Family(
        table.GROUP_MEMBERS,
        ((table.GROUP_MEMBERS.series(group.group_id), group.member_count) for group in summaries),
    )
    yield Family(table.GROUP_OFFSET, ((each.series, each.offset) for each in progress))
    yield Family(table.GROUP_LAG, ((each.series, each.lag) for each in progress if each.lag is not None))
    yield Family(
        table.GROUP_LAG_SECONDS,
        ((each.series, each.lag_seconds) for each in progress if each.lag_seconds is not None),
    )
    yield from _sums(progress)


def _states(summaries: list[GroupSummary]) -> Family:
    counts = Counter(group.state_name for group in summaries)
    return Family(
        table.GROUPS, [(table.GROUPS.series(name), count) for name, count in sorted(counts.items())]
    )


def _sums(progress: list[_Progress]) -> Iterator[Family]:
    offsets: Counter[tuple[str, str]] = Counter()
    lags: Counter[tuple[str, str]] = Counter()
    for each in progress:
        offsets[each.group_id, each.topic] += each.offset
        if each.lag is not None:
            lags[each.group_id, each.topic] += each.lag
    yield Family(
        table.GROUP_OFFSET_SUM,
        ((table.GROUP_OFFSET_SUM.series(*key), value) for key, value in offsets.items()),
    )
    yield Family(
        table.GROUP_LAG_SUM, ((table.GROUP_LAG_SUM.series(*key), value) for key, value in lags.items())
    )
