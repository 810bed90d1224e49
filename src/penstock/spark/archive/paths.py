"""Where everything is in an archive.

::

    archive/
      topic=orders/date=2026-01-31/hour=08/batch-000000000007-1f0c9a2e-5d3b77aa-00000.zstd.parquet
      topic=orders/date=2026-01-31/hour=08/merged-1769850000000-90ab12cd-00000.zstd.parquet
      _manifest/00000000000000000042.json             one commit each
      _manifest/00000000000000000040.snapshot.json    what all commits up to it come to
      _staging/1769849000000-5d3b77aa/                files of an attempt that is not over
      _checkpoint/3fb1c2d4e5f6/                       the progress of a query that archives
      _replays/                                       plans and progress of replays

Dates and hours are those of record timestamps, in UTC. Names with ``_`` in front are passed over by whoever
reads the directory as a table. All paths are relative to the archive, with ``/`` between their parts.
"""

import re
from typing import NamedTuple

MANIFEST = "_manifest"
STAGING = "_staging"
CHECKPOINT = "_checkpoint"
REPLAYS = "_replays"

PARTITION_COLUMNS = ("topic", "date", "hour")
"""Those that are in the names of directories instead of the files."""

HOUR_MS = 3_600_000

_HOUR_DIRECTORY = re.compile(r"topic=(?P<topic>[^/]+)/date=(?P<date>[^/]+)/hour=(?P<hour>\d\d)/[^/]+")
_COMMIT = re.compile(r"(\d{20})\.json")
_SNAPSHOT = re.compile(r"(\d{20})\.snapshot\.json")
_BATCH_FILE = re.compile(r"batch-(\d{12,})-([0-9a-f]{8})-[0-9a-f]{8}-\d{5,}\.[a-z0-9.]*parquet")


class Hour(NamedTuple):
    """One directory of files: an hour of a topic."""

    topic: str
    date: str
    hour: str

    @property
    def directory(self) -> str:
        """Its path."""
        return f"topic={self.topic}/date={self.date}/hour={self.hour}"


class BatchName(NamedTuple):
    """What the name of a file says about the micro-batch that wrote it."""

    query: str
    """The first 8 digits of the query's id."""
    batch_id: int


def hour_of(path: str) -> Hour | None:
    """The hour that a file belongs to; None if the path is not one of an archive."""
    match = _HOUR_DIRECTORY.fullmatch(path)
    return None if match is None else Hour(match["topic"], match["date"], match["hour"])


class Attempt(NamedTuple):
    """One try at writing files; whatever another try writes has other names."""

    began_ms: int
    digits: str
    """Eight random ones, in hexadecimal."""

    @property
    def staging(self) -> str:
        """Where it writes its files before they are moved to their hours."""
        return f"{STAGING}/{self.began_ms}-{self.digits}"


def attempt_began_ms(name: str) -> int:
    """When the attempt began that has a directory of this name; 0 for directories of nobody."""
    began = name.partition("-")[0]
    return int(began) if began.isdecimal() else 0


def batch_prefix(query_id: str, batch_id: int) -> str:
    """How the names of all files of a micro-batch begin, whichever attempt wrote them."""
    return f"batch-{batch_id:012d}-{short_query(query_id)}-"


def batch_of(path: str) -> BatchName | None:
    """The micro-batch that wrote a file; None if it was not written by one."""
    match = _BATCH_FILE.fullmatch(path.rpartition("/")[2])
    return None if match is None else BatchName(match[2], int(match[1]))


def merged_prefix(now_ms: int) -> str:
    """How the names of files begin that a compaction wrote."""
    return f"merged-{now_ms}-"


def short_query(query_id: str) -> str:
    """A query as it appears in names of files."""
    return query_id.replace("-", "")[:8]


def commit_path(version: int) -> str:
    """The commit that leads to a version."""
    return f"{MANIFEST}/{version:020d}.json"


def snapshot_path(version: int) -> str:
    """The snapshot of a version."""
    return f"{MANIFEST}/{version:020d}.snapshot.json"


def commit_version(name: str) -> int | None:
    """The version of a commit by the name of its file; None if it is none."""
    match = _COMMIT.fullmatch(name)
    return None if match is None else int(match[1])


def snapshot_version(name: str) -> int | None:
    """The version of a snapshot by the name of its file; None if it is none."""
    match = _SNAPSHOT.fullmatch(name)
    return None if match is None else int(match[1])
