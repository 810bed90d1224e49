"""The page of an analysis: an overview, then every topic with its plots.

It is one file that needs nothing else: no script, no picture, no font from anywhere. Names, keys and types
come from messages of strangers, so everything is escaped where it is written.
"""

from collections.abc import Iterable, Sequence
from html import escape

from penstock.analysis.key_counts import shown_key
from penstock.analysis.partition_analysis import PartitionAnalysis
from penstock.analysis.record_statistics import RecordStatistics
from penstock.analysis.size_histogram import PERCENTILES
from penstock.spark.analysis.html.amounts import DAY_AND_HOUR, HOUR, shown_bytes, shown_time
from penstock.spark.analysis.html.charts import WIDE, Bar, bar_chart, column_chart, heat_chart
from penstock.spark.analysis.html.style import STYLE
from penstock.spark.analysis.topic_report import TopicReport, TypeCount

TIMELINE_COLUMNS_MAX = 80
TYPES_SHOWN_MAX = 12
PARTITIONS_SHOWN_MAX = 24
_DAY_MS = 24 * 3_600_000

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What browsers hold the page to: it can load nothing and run nothing, whatever is in it."""

Card = tuple[str, str]


def html_page(reports: Sequence[TopicReport], *, description: str, written_ms: int, top_max: int = 10) -> str:
    """The whole file; ``description`` says where the records come from."""
    is_single = len(reports) == 1
    sections = (
        _section(one, heading="" if is_single else f"<h2>{escape(one.topic)}</h2>", top_max=top_max)
        for one in reports
    )
    title = f"What {reports[0].topic} holds" if is_single else "What topics hold"
    overview = "" if is_single else _overview(reports)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>"
        f"<header><h1>{escape(title)}</h1>"
        f'<p class="quiet">Read from {escape(description)}, {shown_time(written_ms)} UTC</p></header>'
        f"{overview}{''.join(sections)}"
        "<footer>Sizes of messages are those before compression. What values are is a guess by their "
        "bytes. Times are in UTC.</footer></main></body></html>\n"
    )


def _overview(reports: Sequence[TopicReport]) -> str:
    columns = ("Topic", "Partitions", "Messages", "Stored", "Mean size", "Largest", "Compression", "Keys")
    rows = (
        (
            f'<a href="#{_anchor(report)}">{escape(report.topic)}</a>',
            f"{len(report.analysis.partitions):,}",
            f"{report.analysis.statistics.message_count:,}",
            shown_bytes(report.analysis.statistics.batch_bytes),
            shown_bytes(report.analysis.statistics.sizes.mean),
            shown_bytes(report.analysis.statistics.sizes.largest),
            f"{report.analysis.statistics.codecs.total.ratio:.1f}×",
            f"{report.analysis.statistics.keys.distinct_count:,}",
        )
        for report in reports
    )
    head = "".join(f"<th>{column}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="plot scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _section(report: TopicReport, *, heading: str, top_max: int) -> str:
    cards = "".join(
        f'<div class="card"><b>{escape(amount)}</b><span>{escape(what)}</span></div>'
        for amount, what in _cards(report)
    )
    plots = "".join(_plots(report, top_max=top_max))
    return (
        f'<section id="{_anchor(report)}">{heading}'
        f'<div class="cards">{cards}</div><div class="plots">{plots}</div></section>'
    )


def _anchor(report: TopicReport) -> str:
    return f"topic-{escape(report.topic)}"


def _cards(report: TopicReport) -> list[Card]:
    statistics, compaction = report.analysis.statistics, report.compaction
    percentiles = ", ".join(
        f"P{percent} {shown_bytes(statistics.sizes.percentile(percent))}" for percent in PERCENTILES
    )
    cards = [
        (f"{statistics.message_count:,}", f"messages in {len(report.analysis.partitions)} partitions"),
        (shown_bytes(statistics.sizes.mean), f"mean size; {percentiles}"),
        (
            f"{statistics.keys.distinct_count:,}",
            f"different keys; {statistics.keys.null_count:,} messages have none",
        ),
        (
            f"{compaction.share:.1%}",
            f"of bytes would go by compaction, {compaction.removable_messages:,} messages",
        ),
        (f"{statistics.tombstone_count:,}", "tombstones"),
        (f"{report.imbalance:.2f}×", "largest partition against the mean"),
    ]
    return cards + _batch_cards(statistics)


def _batch_cards(statistics: RecordStatistics) -> list[Card]:
    """Only where batches are known: an archive has none."""
    if not statistics.batch_count:
        return []
    codecs = ", ".join(f"{name} {each.ratio:.1f}×" for name, each in statistics.codecs.by_name().items())
    return [
        (shown_bytes(statistics.batch_bytes), f"stored in {statistics.batch_count:,} batches"),
        (f"{statistics.codecs.total.ratio:.1f}×", f"compression: {codecs or 'none'}"),
    ]


def _plots(report: TopicReport, *, top_max: int) -> Iterable[str]:
    statistics = report.analysis.statistics
    if not statistics.message_count:
        yield '<div class="plot wide quiet">There are no messages.</div>'
        return
    yield _plot("Messages by partition", bar_chart("Messages by partition", _partitions(report)))
    yield _plot("What values are", bar_chart("What values are", _kinds(report)), _protobuf(report))
    yield _plot("Sizes of messages", column_chart("Messages by size", _sizes(statistics)))
    if report.types:
        shown = [_type_bar(one) for one in report.types[:TYPES_SHOWN_MAX]]
        yield _plot("Types, as messages name them", bar_chart("Messages by type", shown))
    if top := statistics.keys.top(top_max):
        bars = [Bar(shown_key(one.key), one.messages, f"{one.share:.1%}") for one in top]
        yield _plot("Keys with most messages", bar_chart("Keys with most messages", bars))
    if statistics.batch_count:
        yield _plot("Bytes by codec", bar_chart("Bytes by codec", _codecs(statistics)))
    if timeline := _timeline(statistics):
        yield _plot("Messages over time", column_chart("Messages over time", timeline, width=WIDE), wide=True)
        heat = heat_chart("Messages by day and hour", report.heat_map)
        yield _plot("Messages by day and hour", heat, wide=True)


def _plot(title: str, chart: str, note: str = "", *, wide: bool = False) -> str:
    remark = f'<p class="quiet">{escape(note)}</p>' if note else ""
    return f'<div class="plot{" wide" if wide else ""}"><h3>{escape(title)}</h3>{chart}{remark}</div>'


def _partitions(report: TopicReport) -> list[Bar]:
    """All, or the largest of very many."""

    def size(one: PartitionAnalysis) -> int:
        return one.statistics.message_count

    largest = sorted(report.analysis.partitions, key=size, reverse=True)[:PARTITIONS_SHOWN_MAX]
    return [
        Bar(f"partition {one.partition.partition}", size(one), f"{size(one):,}")
        for one in sorted(largest, key=lambda each: each.partition)
    ]


def _kinds(report: TopicReport) -> list[Bar]:
    total = report.analysis.statistics.message_count
    return [Bar(one.kind, one.messages, f"{one.messages / total:.1%}") for one in report.kinds]


def _protobuf(report: TopicReport) -> str:
    guess = report.protobuf
    if not guess.sampled:
        return ""
    return f"Of {guess.sampled} binary values looked at, {guess.matching} read as Protobuf."


def _type_bar(one: TypeCount) -> Bar:
    return Bar(one.type or "", one.messages, f"{one.messages:,}")


def _sizes(statistics: RecordStatistics) -> list[Bar]:
    return [
        Bar(shown_bytes(size), count, f"{count:,} messages below {shown_bytes(max(1, 2 * size))}")
        for size, count in statistics.sizes.by_power().items()
    ]


def _codecs(statistics: RecordStatistics) -> list[Bar]:
    bars = []
    for name, totals in statistics.codecs.by_name().items():
        bars.append(Bar(f"{name}, stored", totals.stored_bytes, shown_bytes(totals.stored_bytes)))
        bars.append(Bar(f"{name}, before", totals.payload_bytes, shown_bytes(totals.payload_bytes)))
    return bars


def _timeline(statistics: RecordStatistics) -> list[Bar]:
    width_ms, buckets = statistics.timeline.buckets(count_max=TIMELINE_COLUMNS_MAX)
    pattern = DAY_AND_HOUR if len(buckets) * width_ms > _DAY_MS else HOUR
    return [
        Bar(
            shown_time(each.start_ms, pattern=pattern),
            each.messages,
            f"{each.messages:,} messages from {shown_time(each.start_ms)} UTC",
        )
        for each in buckets
    ]
