"""Which part of an archive somebody wants, and which files have it."""

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition
from penstock.spark.archive.files import ArchivedFile
from penstock.spark.archive.intervals import Interval
from penstock.spark.archive.state import ArchiveState


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to read; everything that is left out is not asked for."""

    topics: tuple[str, ...] | None = None
    since_ms: int | None = None
    """Record timestamps of this time or later."""
    until_ms: int | None = None
    """Record timestamps before this time."""
    offsets: Mapping[TopicPartition, Interval] | None = None
    """By partition; those that are not named are not read."""
    incarnation: int | None = None
    """Only records of the topic as it was when it had been made anew so many times."""

    def __post_init__(self) -> None:
        if None not in (self.since_ms, self.until_ms) and self.since_ms >= self.until_ms:  # type: ignore[operator]
            raise UsageError(
                f"There is nothing since {self.since_ms} and before {self.until_ms}: name a later end."
            )

    def wants(self, file: ArchivedFile) -> bool:
        """Whether a file may have something of it."""
        return (
            (self.topics is None or file.topic in self.topics)
            and (self.since_ms is None or file.last_timestamp_ms >= self.since_ms)
            and (self.until_ms is None or file.first_timestamp_ms < self.until_ms)
            and (self.incarnation is None or file.incarnation == self.incarnation)
            and (self.offsets is None or self._has_offsets(file))
        )

    def _has_offsets(self, file: ArchivedFile) -> bool:
        wanted = self.offsets or {}
        return any(
            span.first < interval.end and span.last >= interval.start
            for partition, span in file.spans.items()
            if (interval := wanted.get(TopicPartition(file.topic, partition))) is not None
        )


def select_files(state: ArchiveState, selection: Selection) -> list[ArchivedFile]:
    """The files to read, in order; it is a mistake to ask for a topic that was never archived."""
    for topic in selection.topics or ():
        if topic not in state.topics:
            known = ", ".join(sorted(state.topics)) or "none"
            raise UsageError(f"Topic {topic!r} is not in the archive; it has {known}.")
    return [state.files[path] for path in sorted(state.files) if selection.wants(state.files[path])]
