"""A file of an archive as the manifest knows it: how much it holds, and which offsets and times."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from penstock.spark.archive.errors import DamagedArchiveError
from penstock.spark.archive.paths import Hour, hour_of


class Span(NamedTuple):
    """What a file holds of one partition."""

    first: int
    last: int
    """Offsets of its first and last record; there may be gaps between them, as in the log."""
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedFile:
    """A Parquet file. Its records are in the order of partition and offset."""

    path: str
    """Relative to the archive."""
    size_bytes: int
    incarnation: int
    """How many times the topic had been made anew when these records were in it."""
    first_timestamp_ms: int
    last_timestamp_ms: int
    spans: Mapping[int, Span]
    """By number of partition; never empty."""

    @property
    def hour(self) -> Hour:
        """The directory it is in."""
        found = hour_of(self.path)
        if found is None:
            raise DamagedArchiveError(f"The manifest names {self.path!r}, which is no path of an archive.")
        return found

    @property
    def topic(self) -> str:
        """The topic of its records."""
        return self.hour.topic

    @property
    def rows(self) -> int:
        """How many records it has."""
        return sum(span.rows for span in self.spans.values())

    def moved(self, path: str) -> "ArchivedFile":
        """The same file in another place."""
        return replace(self, path=path)

    def as_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        return {
            "path": self.path,
            "bytes": self.size_bytes,
            "rows": self.rows,
            "incarnation": self.incarnation,
            "first_timestamp_ms": self.first_timestamp_ms,
            "last_timestamp_ms": self.last_timestamp_ms,
            "spans": {str(partition): list(self.spans[partition]) for partition in sorted(self.spans)},
        }


def file_from_json(document: Mapping[str, Any]) -> ArchivedFile:
    """What ``as_json`` wrote."""
    return ArchivedFile(
        path=document["path"],
        size_bytes=document["bytes"],
        incarnation=document["incarnation"],
        first_timestamp_ms=document["first_timestamp_ms"],
        last_timestamp_ms=document["last_timestamp_ms"],
        spans={int(partition): Span(*numbers) for partition, numbers in document["spans"].items()},
    )


def merged_spans(files: "list[ArchivedFile]") -> dict[int, Span]:
    """What several files hold together of each partition."""
    merged: dict[int, Span] = {}
    for file in files:
        for partition, span in file.spans.items():
            known = merged.get(partition, Span(span.first, span.last, 0))
            merged[partition] = Span(
                min(known.first, span.first), max(known.last, span.last), known.rows + span.rows
            )
    return merged
