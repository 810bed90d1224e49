"""How an analysis appears on a terminal: tables, with bars where lengths say more than numbers."""

from collections.abc import Sequence

from penstock.analysis.key_counts import shown_key
from penstock.analysis.partition_analysis import FileTotals, TopicAnalysis
from penstock.analysis.record_statistics import RecordStatistics
from penstock.analysis.size_histogram import PERCENTILES
from penstock.cli.bars import bar
from penstock.cli.durations import format_duration
from penstock.cli.instants import format_instant
from penstock.cli.output import print_table
from penstock.cli.sizes import format_bytes
from penstock.cli.words import counted

_BAR_WIDTH = 24
_SHARE_WIDTH = 12
_TIMELINE_ROWS_MAX = 24
_UNKNOWN = "-"
_ALL = "all"


def print_overview(topics: Sequence[TopicAnalysis]) -> None:
    """One line for each topic."""
    rows = [
        (
            each.topic,
            len(each.partitions),
            f"{each.statistics.message_count:,}",
            format_bytes(each.statistics.batch_bytes),
            format_bytes(round(each.statistics.sizes.mean)),
            format_bytes(each.statistics.sizes.largest),
            _ratio(each.statistics),
            _key_count(each.statistics),
        )
        for each in topics
    ]
    columns = ("TOPIC", "PARTITIONS", "MESSAGES", "BYTES", "MEAN", "MAX", "RATIO", "KEYS")
    print_table(columns, rows, numbers=range(1, 8))
    for topic in topics:
        _print_notes(topic)


def print_topic(topic: TopicAnalysis, *, top_max: int) -> None:
    """Everything about one topic: partitions, keys, times."""
    statistics = topic.statistics
    print(_headline(topic))
    _print_partitions(topic)
    _print_sizes(topic)
    _print_keys(statistics, top_max)
    _print_timeline(statistics)
    _print_notes(topic)


def _headline(topic: TopicAnalysis) -> str:
    statistics, files = topic.statistics, topic.files
    parts = [
        f"{topic.topic}: {counted(statistics.message_count, 'message')} in "
        f"{counted(len(topic.partitions), 'partition')}",
        f"{format_bytes(statistics.batch_bytes)} in {counted(statistics.batch_count, 'batch')}",
    ]
    if files is not None:
        parts.append(f"{format_bytes(files.bytes)} in {counted(files.files, 'file')}")
    if codecs := statistics.codecs.by_name():
        parts.append("compression " + ", ".join(f"{name} {each.ratio:.1f}x" for name, each in codecs.items()))
    if statistics.marker_count:
        parts.append(counted(statistics.marker_count, "transaction marker"))
    return "; ".join(parts)


def _print_partitions(topic: TopicAnalysis) -> None:
    largest = max(each.statistics.message_count for each in topic.partitions)
    rows = [
        (*_amounts(name, statistics, files), "" if name == _ALL else _share(statistics, largest))
        for name, statistics, files in _parts(topic)
    ]
    columns = ("PARTITION", "MESSAGES", "BYTES", "SEGMENTS", "FILES", "KEYS", "")
    print_table(columns, rows, numbers=range(6))


def _print_sizes(topic: TopicAnalysis) -> None:
    print("\nSizes of messages before compression, and how many times smaller they are stored")
    rows = [
        (
            name,
            format_bytes(round(statistics.sizes.mean)),
            *(format_bytes(statistics.sizes.percentile(percent)) for percent in PERCENTILES),
            format_bytes(statistics.sizes.largest),
            _ratio(statistics),
            f"{statistics.tombstone_count:,}",
        )
        for name, statistics, _ in _parts(topic)
    ]
    percentiles = (f"P{percent}" for percent in PERCENTILES)
    print_table(("PARTITION", "MEAN", *percentiles, "MAX", "RATIO", "TOMBSTONES"), rows, numbers=range(8))


def _parts(topic: TopicAnalysis) -> list[tuple[str, RecordStatistics, FileTotals | None]]:
    """Each partition and, if there are several, all of them."""
    parts = [(str(each.partition.partition), each.statistics, each.files) for each in topic.partitions]
    return parts if len(parts) == 1 else [*parts, (_ALL, topic.statistics, topic.files)]


def _amounts(name: str, statistics: RecordStatistics, files: FileTotals | None) -> tuple[str, ...]:
    return (
        name,
        f"{statistics.message_count:,}",
        format_bytes(statistics.batch_bytes),
        _UNKNOWN if files is None else str(files.segments),
        _UNKNOWN if files is None else str(files.files),
        _key_count(statistics),
    )


def _share(statistics: RecordStatistics, largest: int) -> str:
    return bar(statistics.message_count / max(1, largest), width=_SHARE_WIDTH)


def _ratio(statistics: RecordStatistics) -> str:
    return f"{statistics.codecs.total.ratio:.1f}x"


def _key_count(statistics: RecordStatistics) -> str:
    """With a sign where it is an estimate."""
    return f"{'' if statistics.keys.is_exact else '~'}{statistics.keys.distinct_count:,}"


def _print_keys(statistics: RecordStatistics, top_max: int) -> None:
    keys = statistics.keys
    if not keys.keyed_count:
        return
    how = "counted exactly" if keys.is_exact else "estimated by HyperLogLog, give or take 1 %"
    have = "has" if keys.null_count == 1 else "have"
    without = f"; {counted(keys.null_count, 'message')} {have} none" if keys.null_count else ""
    print(f"\nKeys: {keys.distinct_count:,} different ones, {how}{without}")
    print_table(
        ("KEY", "MESSAGES", "SHARE", ""),
        [
            (
                shown_key(each.key),
                f"{each.messages:,}",
                f"{each.share:.1%}",
                bar(each.share, width=_BAR_WIDTH),
            )
            for each in keys.top(top_max)
        ],
        numbers=(1, 2),
    )
    if keys.undercount:
        print(f"Each key may have up to {counted(keys.undercount, 'message')} more than shown.")


def _print_timeline(statistics: RecordStatistics) -> None:
    width_ms, buckets = statistics.timeline.buckets(count_max=_TIMELINE_ROWS_MAX)
    if not buckets:
        return
    largest = max(each.messages for each in buckets)
    print(f"\nMessages per {format_duration(width_ms)}, UTC")
    print_table(
        ("FROM", "MESSAGES", ""),
        [
            (
                format_instant(each.start_ms),
                f"{each.messages:,}",
                bar(each.messages / largest, width=_BAR_WIDTH),
            )
            for each in buckets
        ],
        numbers=(1,),
    )


def _print_notes(topic: TopicAnalysis) -> None:
    for partition in topic.partitions:
        for note in partition.notes:
            print(f"Note on {partition.partition}: {note}")
