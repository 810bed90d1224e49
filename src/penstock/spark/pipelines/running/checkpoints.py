"""What Spark's checkpoint says of a flow: which micro-batches are committed, what they read, how late is
late.

Spark writes ``offsets/N`` before micro-batch N runs and ``commits/N`` when it is done, and keeps the last
hundred of both. Each has a first line with its version; ``offsets/N`` then has settings and the watermark as
JSON, and a line of JSON for each source. The files are read where they are, or by Spark where that is
elsewhere.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.spark.pipelines.steps.paths import local_path

Offsets = Mapping[str, Mapping[str, int]]
"""By topic and partition, as Spark keeps them."""

EARLIEST = -2
"""Stands for the first offset there is."""


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """What one micro-batch read of one source; ends are not part of it."""

    start: Offsets
    end: Offsets

    @property
    def is_empty(self) -> bool:
        """Whether nothing lies between."""
        return all(
            self.start.get(topic, {}).get(number) == offset
            for topic, numbers in self.end.items()
            for number, offset in numbers.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBatch:
    """A micro-batch as ``offsets/N`` tells it."""

    began_ms: int
    """What it takes for the present time."""
    watermark_ms: int
    """The watermark when it began."""
    ends: tuple[Offsets, ...]
    """Where it ends in each source; empty for sources that are none of ours."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint of one flow."""

    location: str
    read_text: Callable[[str], str | None] = field(compare=False)
    """The text of a file below it; None if it is not there."""
    list_names: Callable[[str], list[str]] = field(compare=False)

    def last_committed(self) -> int:
        """The number of the last micro-batch that is done; -1 if there is none."""
        numbers = [int(name) for name in self.list_names("commits") if name.isdecimal()]
        return max(numbers, default=-1)

    def first_known(self) -> int:
        """The number of the first micro-batch that Spark still remembers; 0 if there is none."""
        return min((int(name) for name in self.list_names("offsets") if name.isdecimal()), default=0)

    def planned(self, batch: int) -> PlannedBatch | None:
        """What is known of a micro-batch; None if Spark has forgotten it."""
        text = self.read_text(f"offsets/{batch}")
        return None if text is None else parse_offsets_file(text)


def local_checkpoint(location: str) -> Checkpoint | None:
    """A checkpoint in a directory of this machine; None if it is elsewhere."""
    directory = local_path(location)
    if directory is None:
        return None

    def read_text(name: str) -> str | None:
        path = directory / name
        return path.read_text() if path.is_file() else None

    def list_names(name: str) -> list[str]:
        path = directory / name
        return [each.name for each in path.iterdir()] if path.is_dir() else []

    return Checkpoint(location, read_text, list_names)


def checkpoint_in_spark(spark: Any, location: str) -> Checkpoint:
    """A checkpoint that Spark can read, wherever it is."""

    def read_text(name: str) -> str | None:
        if Path(name).name not in list_names(str(Path(name).parent)):
            return None
        rows = spark.read.option("wholetext", True).text(f"{location}/{name}").collect()
        return str(rows[0].value) if rows else None

    def list_names(name: str) -> list[str]:
        from pyspark.errors import AnalysisException

        try:
            files = spark.read.format("binaryFile").load(f"{location}/{name}/*").select("path").collect()
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            return []
        return [str(row.path).rpartition("/")[2] for row in files]

    return Checkpoint(location, read_text, list_names)


def parse_offsets_file(text: str) -> PlannedBatch:
    """What stands in ``offsets/N``."""
    version, _, rest = text.partition("\n")
    if version.strip() != "v1":
        raise ValueError(f"This checkpoint is of version {version.strip()!r}; only v1 is understood.")
    lines = rest.splitlines()
    metadata = json.loads(lines[0]) if lines and lines[0].strip() else {}
    return PlannedBatch(
        began_ms=int(metadata.get("batchTimestampMs", 0)),
        watermark_ms=int(metadata.get("batchWatermarkMs", 0)),
        ends=tuple(_offsets(line) for line in lines[1:]),
    )


def _offsets(line: str) -> Offsets:
    """Topics with their partitions; keys without any are notes of the source."""
    try:
        document = json.loads(line)
    except json.JSONDecodeError:
        return {}  # "-", a source that has nothing yet, or one that writes no JSON.
    return plain_offsets(document)


def plain_offsets(document: Any) -> Offsets:
    """The offsets of a source's document, without what it notes beside them."""
    if not isinstance(document, dict):
        return {}
    return {
        topic: {number: int(offset) for number, offset in numbers.items()}
        for topic, numbers in document.items()
        if isinstance(numbers, dict) and numbers
    }


def range_between(start: Offsets, end: Offsets) -> OffsetRange:
    """What lies between two places; partitions unknown to the start began at their earliest record."""
    starts = {
        topic: {number: start.get(topic, {}).get(number, EARLIEST) for number in numbers}
        for topic, numbers in end.items()
    }
    return OffsetRange(starts, end)
