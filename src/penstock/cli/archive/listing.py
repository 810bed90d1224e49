"""``penstock archive list``: what the manifest says, without opening a single file of records."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.cli.archive.spark import SparkWishes, running_spark
from penstock.cli.instants import format_instant
from penstock.cli.output import print_json, print_table
from penstock.cli.sizes import format_bytes

if TYPE_CHECKING:
    from penstock.spark.archive.files import ArchivedFile
    from penstock.spark.archive.incarnations import Log
    from penstock.spark.archive.state import ArchiveState


class Total(NamedTuple):
    """Several files together."""

    records: int
    files: int
    size_bytes: int
    first_timestamp_ms: int
    last_timestamp_ms: int

    def cells(self) -> tuple[str, ...]:
        """As a table shows it."""
        times = (format_instant(self.first_timestamp_ms), format_instant(self.last_timestamp_ms))
        return f"{self.records:,}", str(self.files), format_bytes(self.size_bytes), *times


COLUMNS = ("RECORDS", "FILES", "BYTES", "FIRST", "LAST")


def print_archive(
    path: str,
    topics: Sequence[str],
    *,
    has_partitions: bool,
    has_hours: bool,
    spark: SparkWishes,
    as_json: bool,
) -> None:
    """Print what there is of some topics, or of all."""
    from penstock.spark.archive.selection import Selection, select_files

    state = _state(path, spark)
    files = select_files(state, Selection(topics=tuple(topics) or None))
    logs = sorted(log for log in state.covered if not topics or log.topic in topics)
    if as_json:
        print_json(_document(state, files, logs, has_hours=has_hours))
    elif has_partitions:
        print_table(
            ("TOPIC", "INCARNATION", "PARTITION", "RECORDS", "FIRST OFFSET", "NEXT OFFSET", "GAPS"),
            [tuple(_partition(state, files, log).values()) for log in logs],
            numbers=(1, 2, 3, 4, 5),
        )
    elif has_hours:
        hours = _totals(files, lambda file: (*file.hour,))
        rows = [(*hour, *total.cells()[:3]) for hour, total in hours.items()]
        print_table(("TOPIC", "DATE", "HOUR", *COLUMNS[:3]), rows, numbers=(3, 4, 5))
    else:
        rows = [
            (*topic, *total.cells()) for topic, total in _totals(files, lambda file: (file.topic,)).items()
        ]
        print_table(("TOPIC", *COLUMNS), rows, numbers=(1, 2, 3))


def _state(path: str, wishes: SparkWishes) -> "ArchiveState":
    from penstock.spark.archive.manifest import load
    from penstock.spark.archive.stores.opening import is_local, open_store

    if is_local(path):
        return load(open_store(path))
    with running_spark(wishes) as spark:
        return load(open_store(path, spark))


def _totals(
    files: "Sequence[ArchivedFile]", key: "Callable[[ArchivedFile], tuple[str, ...]]"
) -> dict[tuple[str, ...], Total]:
    grouped: dict[tuple[str, ...], list[ArchivedFile]] = defaultdict(list)
    for file in files:
        grouped[key(file)].append(file)
    return {each: _total(grouped[each]) for each in sorted(grouped)}


def _total(files: "Sequence[ArchivedFile]") -> Total:
    return Total(
        records=sum(file.rows for file in files),
        files=len(files),
        size_bytes=sum(file.size_bytes for file in files),
        first_timestamp_ms=min(file.first_timestamp_ms for file in files),
        last_timestamp_ms=max(file.last_timestamp_ms for file in files),
    )


def _partition(state: "ArchiveState", files: "Sequence[ArchivedFile]", log: "Log") -> dict[str, Any]:
    from penstock.spark.archive.intervals import gaps

    covered = state.covered[log]
    records = sum(
        file.spans[log.partition].rows
        for file in files
        if (file.topic, file.incarnation) == log[:2] and log.partition in file.spans
    )
    missing = ", ".join(f"{start}-{end - 1}" for start, end in gaps(covered))
    return {
        **log._asdict(),
        "records": records,
        "first_offset": covered[0].start,
        "next_offset": covered[-1].end,
        "gaps": missing or "-",
    }


def _document(
    state: "ArchiveState", files: "Sequence[ArchivedFile]", logs: "Sequence[Log]", *, has_hours: bool
) -> dict[str, Any]:
    from penstock.spark.archive.intervals import gaps

    topics = [{"topic": topic, **total._asdict()} for (topic,), total in _totals(files, _topic).items()]
    partitions = [
        {**_partition(state, files, log), "gaps": [list(gap) for gap in gaps(state.covered[log])]}
        for log in logs
    ]
    document: dict[str, Any] = {"version": state.version, "topics": topics, "partitions": partitions}
    if has_hours:
        document["hours"] = [
            {"topic": topic, "date": date, "hour": hour, **total._asdict()}
            for (topic, date, hour), total in _totals(files, lambda file: (*file.hour,)).items()
        ]
    return document


def _topic(file: "ArchivedFile") -> tuple[str, ...]:
    return (file.topic,)
