"""How an analysis on Spark appears on a terminal: as every analysis, and what only Spark has counted."""

import sys
from typing import TYPE_CHECKING

from penstock.analysis.record_statistics import RecordStatistics
from penstock.cli.bars import bar
from penstock.cli.output import print_table
from penstock.cli.sizes import format_bytes
from penstock.cli.storage.analysis_report import print_topic
from penstock.cli.words import counted

if TYPE_CHECKING:
    from penstock.spark.analysis.heat_map import HeatMap
    from penstock.spark.analysis.topic_report import TopicReport

_BAR_WIDTH = 24
_TYPES_MAX = 15
_SHADES = " ░▒▓█"
_PLAIN_SHADES = " .:*#"


def print_report(report: "TopicReport", *, top_max: int) -> None:
    """Everything about one topic."""
    print_topic(report.analysis, top_max=top_max)
    statistics = report.analysis.statistics
    if not statistics.message_count:
        return
    _print_kinds(report)
    _print_types(report)
    _print_size_histogram(statistics)
    _print_compaction(report)
    if report.heat_map.days:
        _print_heat_map(report.heat_map)


def _print_kinds(report: "TopicReport") -> None:
    total = report.analysis.statistics.message_count
    print("\nWhat values are, by a look at their bytes")
    rows = [
        (
            one.kind,
            f"{one.messages:,}",
            format_bytes(one.message_bytes),
            f"{one.messages / total:.1%}",
            bar(one.messages / total, width=_BAR_WIDTH),
        )
        for one in report.kinds
    ]
    print_table(("KIND", "MESSAGES", "BYTES", "SHARE", ""), rows, numbers=(1, 2, 3))
    guess = report.protobuf
    if guess.sampled:
        print(f"Of {counted(guess.sampled, 'binary value')} looked at, {guess.matching} read as Protobuf.")


def _print_types(report: "TopicReport") -> None:
    if not report.types:
        return
    total = report.analysis.statistics.message_count
    print("\nTypes, as messages name them")
    rows = [
        (one.type, one.kind, f"{one.messages:,}", bar(one.messages / total, width=_BAR_WIDTH))
        for one in report.types[:_TYPES_MAX]
    ]
    print_table(("TYPE", "KIND", "MESSAGES", ""), rows, numbers=(2,))


def _print_size_histogram(statistics: RecordStatistics) -> None:
    powers = statistics.sizes.by_power()
    largest = max(powers.values())
    print("\nMessages by size")
    rows = [
        (format_bytes(size), f"{count:,}", bar(count / largest, width=_BAR_WIDTH))
        for size, count in powers.items()
    ]
    print_table(("FROM", "MESSAGES", ""), rows, numbers=(0, 1))


def _print_compaction(report: "TopicReport") -> None:
    compaction = report.compaction
    print(
        f"\nCompaction would remove {counted(compaction.removable_messages, 'message')}, "
        f"{format_bytes(compaction.removable_bytes)} before compression ({compaction.share:.1%}); "
        f"{counted(compaction.tombstones, 'tombstone')} would go after delete.retention.ms."
    )
    print(f"The largest partition has {report.imbalance:.2f} times as many messages as the mean.")


def _print_heat_map(heat: "HeatMap") -> None:
    print("\nMessages by day and hour, UTC (each hour two characters, the darker the more)")
    width = max(map(len, heat.days))
    print(" " * width + "  " + "".join(f"{hour:02d}  " for hour in range(0, 24, 2)))
    shades = _shades()
    for day, counts in zip(heat.days, heat.counts, strict=True):
        cells = "".join(2 * _shade(count, heat.largest, shades) for count in counts)
        print(f"{day:<{width}}  {cells}  {sum(counts):,}")


def _shade(count: int, largest: int, shades: str) -> str:
    """Whatever is not nothing can be seen."""
    if not count:
        return shades[0]
    return shades[max(1, -(-count * (len(shades) - 1) // largest))]


def _shades() -> str:
    try:
        _SHADES.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return _PLAIN_SHADES
    return _SHADES
