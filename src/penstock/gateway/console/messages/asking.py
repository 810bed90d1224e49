"""What is asked of a topic's messages in a query: of which partitions, from where to where, which ones."""

from collections.abc import Collection
from dataclasses import dataclass

from penstock.gateway.console.filters.comparing import instant_ms
from penstock.gateway.console.filters.language import compile_filter
from penstock.gateway.console.filters.terms import Wanted
from penstock.gateway.console.messages.cursor import parse_cursor, parse_partitions
from penstock.gateway.console.messages.topic_ranges import TopicRanges, clamped, cursor_at, topic_ranges
from penstock.gateway.rest.parameters import TIMESTAMP_MAX
from penstock.model.errors import UsageError
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.fetching import OffsetRange


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Messages of a topic that somebody wants."""

    topic: str
    partitions: Collection[int] = ()
    """None means all."""
    wanted: Wanted | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    before: str = ""
    """A cursor: only what lies before it."""
    is_read_committed: bool = True

    def ranges(self, cluster: Cluster) -> TopicRanges:
        """The offsets to look at."""
        ranges = topic_ranges(cluster, self.topic, self.partitions, is_read_committed=self.is_read_committed)
        if self.since_ms is not None:
            starts = cursor_at(cluster, self.topic, ranges, timestamp_ms=self.since_ms)
            ranges = {number: OffsetRange(starts[number], each.end) for number, each in ranges.items()}
        if self.until_ms is not None:
            ends = cursor_at(cluster, self.topic, ranges, timestamp_ms=self.until_ms)
            ranges = {number: OffsetRange(each.start, ends[number]) for number, each in ranges.items()}
        if self.before:
            ends = clamped(parse_cursor(self.before), ranges, otherwise_end=True)
            ranges = {number: OffsetRange(each.start, ends[number]) for number, each in ranges.items()}
        return ranges


def asked(
    topic: str,
    *,
    partitions: str = "",
    filter: str = "",
    since: str = "",
    until: str = "",
    before: str = "",
    isolation: str = "read_committed",
) -> Asked:
    """A query in words; UsageError for one that makes no sense."""
    found = Asked(
        topic=topic,
        partitions=parse_partitions(partitions),
        wanted=compile_filter(filter),
        since_ms=moment(since, "since"),
        until_ms=moment(until, "until"),
        before=before,
        is_read_committed=isolation != "read_uncommitted",
    )
    if found.since_ms is not None and found.until_ms is not None and found.since_ms > found.until_ms:
        raise UsageError(f"since={since} is later than until={until}: nothing lies between.")
    return found


def moment(text: str, name: str) -> int | None:
    """Milliseconds since 1970, before which there is nothing; None for no text.

    Below zero, timestamps have special meanings, and beyond the year 9999 they do not fit into a request.
    """
    if not text:
        return None
    found = instant_ms(text)
    if found is None:
        raise UsageError(
            f"{name}={text!r} is no time; write 2026-01-31T12:00:00Z, or milliseconds since 1970."
        )
    return min(max(0, found), TIMESTAMP_MAX)
