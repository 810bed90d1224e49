"""An archive at one version: which files belong to it, and which offsets it has been through."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from penstock.model.ids import TopicPartition
from penstock.spark.archive.commits import FORMAT, Commit, decode_document
from penstock.spark.archive.errors import DamagedArchiveError
from penstock.spark.archive.files import ArchivedFile, file_from_json
from penstock.spark.archive.incarnations import Log, TopicIds
from penstock.spark.archive.intervals import Interval, Intervals, union

NO_VERSION = -1
"""Of an archive that has nothing yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveState:
    """What all commits up to ``version`` come to."""

    version: int = NO_VERSION
    files: Mapping[str, ArchivedFile] = field(default_factory=dict)
    """Those to read, by path."""
    removed: Mapping[str, int] = field(default_factory=dict)
    """Files that are not read any more but may still be there, with the time of their removal."""
    covered: Mapping[Log, Intervals] = field(default_factory=dict)
    topics: Mapping[str, TopicIds] = field(default_factory=dict)
    batches: Mapping[str, int] = field(default_factory=dict)
    """The last micro-batch of each query."""

    def covered_now(self, topic: str, partition: int) -> Intervals:
        """What is archived of a partition of the latest incarnation of a topic."""
        return self.covered.get(Log(topic, len(self.topics.get(topic, ())) - 1, partition), ())

    def next_offsets(self, topic: str) -> dict[TopicPartition, int]:
        """Where the latest incarnation of a topic goes on behind what is archived."""
        latest = len(self.topics.get(topic, ())) - 1
        return {
            TopicPartition(topic, log.partition): intervals[-1].end
            for log, intervals in sorted(self.covered.items())
            if log.topic == topic and log.incarnation == latest
        }


def apply(state: ArchiveState, commit: Commit) -> ArchiveState:
    """The next version. What cannot be is damage: a file that comes twice, or goes without being there."""
    _check(state, commit)
    files = {path: file for path, file in state.files.items() if path not in set(commit.removed)}
    removed = {path: at_ms for path, at_ms in state.removed.items() if path not in set(commit.forgotten)}
    return ArchiveState(
        version=state.version + 1,
        files=files | {file.path: file for file in commit.added},
        removed=removed | dict.fromkeys(commit.removed, commit.at_ms),
        covered=_covered(state.covered, commit.covered),
        topics={**state.topics, **commit.topics},
        batches={**state.batches, commit.query_id: commit.batch_id} if commit.query_id else state.batches,
    )


def encode_state(state: ArchiveState) -> bytes:
    """The file of a snapshot."""
    covered = [[*log, [list(one) for one in intervals]] for log, intervals in sorted(state.covered.items())]
    document = {
        "format": FORMAT,
        "version": state.version,
        "topics": {topic: list(ids) for topic, ids in sorted(state.topics.items())},
        "batches": dict(state.batches),
        "covered": covered,
        "removed": dict(state.removed),
        "files": [state.files[path].as_json() for path in sorted(state.files)],
    }
    return (json.dumps(document) + "\n").encode()


def decode_state(data: bytes, *, path: str) -> ArchiveState:
    """What ``encode_state`` wrote."""
    document = decode_document(data, path=path)
    files = [file_from_json(file) for file in document["files"]]
    return ArchiveState(
        version=document["version"],
        files={file.path: file for file in files},
        removed=document["removed"],
        covered={
            Log(topic, incarnation, partition): tuple(Interval(*one) for one in intervals)
            for topic, incarnation, partition, intervals in document["covered"]
        },
        topics={topic: tuple(ids) for topic, ids in document["topics"].items()},
        batches=document["batches"],
    )


def _check(state: ArchiveState, commit: Commit) -> None:
    version = state.version + 1
    for path in _first(file.path for file in commit.added if file.path in state.files):
        raise DamagedArchiveError(f"Commit {version} adds {path}, which is there already.")
    for path in _first(path for path in commit.removed if path not in state.files):
        raise DamagedArchiveError(f"Commit {version} removes {path}, which is not there.")


def _first(paths: Iterable[str]) -> list[str]:
    return sorted(paths)[:1]


def _covered(known: Mapping[Log, Intervals], more: Mapping[Log, Interval]) -> dict[Log, Intervals]:
    joined = dict(known)
    for log, interval in more.items():
        joined[log] = union((*joined.get(log, ()), interval))
    return joined
