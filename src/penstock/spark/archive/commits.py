"""One step of an archive's history: files that come and go together.

A commit is one small file of JSON, and it happens when that file appears under its name. Before that nothing
it names belongs to the archive; after that everything does.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from penstock.spark.archive.errors import DamagedArchiveError
from penstock.spark.archive.files import ArchivedFile, file_from_json
from penstock.spark.archive.incarnations import Log, TopicIds
from penstock.spark.archive.intervals import Interval

FORMAT = 1
"""Of commits and snapshots. A reader that does not know it must not go on."""


class CommitKind(StrEnum):
    """Why there is a commit."""

    BATCH = "batch"
    COMPACTION = "compaction"
    CLEANING = "cleaning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What changes from one version to the next."""

    kind: CommitKind
    at_ms: int
    query_id: str = ""
    """The query whose micro-batch this is; empty for others."""
    batch_id: int = -1
    covered: Mapping[Log, Interval] = field(default_factory=dict)
    """The offsets that the micro-batch has been through, whether there was a record at each or not."""
    topics: Mapping[str, TopicIds] = field(default_factory=dict)
    """All ids of the topics that this commit speaks of."""
    added: tuple[ArchivedFile, ...] = ()
    removed: tuple[str, ...] = ()
    """Paths of files whose records are in ``added`` now."""
    forgotten: tuple[str, ...] = ()
    """Paths of removed files that have been deleted."""

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return not (self.covered or self.added or self.removed or self.forgotten)


def encode_commit(commit: Commit) -> bytes:
    """The file of a commit."""
    document: dict[str, Any] = {"format": FORMAT, "kind": commit.kind, "at_ms": commit.at_ms}
    if commit.query_id:
        document |= {"query_id": commit.query_id, "batch_id": commit.batch_id}
    if commit.covered:
        document["covered"] = [[*log, *interval] for log, interval in sorted(commit.covered.items())]
    if commit.topics:
        document["topics"] = {topic: list(ids) for topic, ids in sorted(commit.topics.items())}
    if commit.added:
        document["added"] = [file.as_json() for file in commit.added]
    for name, paths in (("removed", commit.removed), ("forgotten", commit.forgotten)):
        if paths:
            document[name] = list(paths)
    return (json.dumps(document, indent=1) + "\n").encode()


def decode_commit(data: bytes, *, path: str) -> Commit:
    """What ``encode_commit`` wrote."""
    document = decode_document(data, path=path)
    return Commit(
        kind=CommitKind(document["kind"]),
        at_ms=document["at_ms"],
        query_id=document.get("query_id", ""),
        batch_id=document.get("batch_id", -1),
        covered={
            Log(topic, incarnation, partition): Interval(start, end)
            for topic, incarnation, partition, start, end in document.get("covered", ())
        },
        topics={topic: tuple(ids) for topic, ids in document.get("topics", {}).items()},
        added=tuple(file_from_json(file) for file in document.get("added", ())),
        removed=tuple(document.get("removed", ())),
        forgotten=tuple(document.get("forgotten", ())),
    )


def decode_document(data: bytes, *, path: str) -> dict[str, Any]:
    """A JSON object of a format that we know."""
    try:
        document = json.loads(data)
    except ValueError as error:
        raise DamagedArchiveError(f"{path} is no JSON: {error}") from error
    if not isinstance(document, dict) or "format" not in document:
        raise DamagedArchiveError(f"{path} is no part of a manifest: it does not say its format.")
    if document["format"] != FORMAT:
        raise DamagedArchiveError(
            f"{path} has format {document['format']}, and this version of Penstock knows {FORMAT}: "
            "use a newer one."
        )
    return document
