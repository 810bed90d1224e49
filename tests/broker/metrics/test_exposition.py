import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.broker.metrics.scraping import parse, parse_open

from penstock.broker.clock import SystemClock
from penstock.broker.metrics.exposition import Exposition, exposition_for, write_lines, write_page
from penstock.broker.metrics.histogram import Histogram
from penstock.broker.metrics.metric import Family, Metric, MetricKind, Sample
from penstock.broker.metrics.pace import Pace

COUNTER = Metric(name="things_total", kind=MetricKind.COUNTER, help="With \\ and\nlines.", labels=("kind",))
GAUGE = Metric(name="weight_bytes", kind=MetricKind.GAUGE, help="Of things.")
LATENCY = Metric(name="wait_seconds", kind=MetricKind.HISTOGRAM, help="For things.")
UNSEEN = Metric(name="unseen", kind=MetricKind.GAUGE, help="Of nothing.")


def written(*families: Family, exposition: Exposition = Exposition.TEXT) -> str:
    async def all_of_them() -> AsyncIterator[Family]:
        for family in families:
            yield family

    pieces = asyncio.run(write_page(all_of_them(), exposition, Pace(SystemClock())))
    return b"".join(pieces).decode()


def some_families() -> list[Family]:
    histogram = Histogram()
    histogram.observe(0.3)
    return [
        Family(COUNTER, [(COUNTER.series('a "b"\n\\'), 3), (COUNTER.series("c"), 2.5)]),
        Family(LATENCY, histogram.samples()),
        Family(UNSEEN, []),
        Family(GAUGE, written=write_lines(GAUGE, [("", 7)])),
    ]


def test_text_is_what_prometheus_reads() -> None:
    page = parse(written(*some_families()))
    assert page.value("things_total", kind='a "b"\n\\') == 3
    assert page.value("things_total", kind="c") == 2.5
    assert page.value("weight_bytes") == 7
    assert page.value("wait_seconds_bucket", le="0.5") == 1
    assert page.families["things"].type == "counter"
    assert page.families["things"].documentation == "With \\ and\nlines."
    assert page.families["wait_seconds"].type == "histogram"


def test_open_metrics_says_the_same_and_where_it_ends() -> None:
    text = written(*some_families(), exposition=Exposition.OPEN_METRICS)
    assert text.endswith("# EOF\n")
    assert parse_open(text).samples == parse(written(*some_families())).samples


def test_metric_without_samples_is_not_announced() -> None:
    assert "unseen" not in written(*some_families())


def test_half_a_character_does_not_break_the_page() -> None:
    assert '\\udc80"' in written(Family(COUNTER, [(COUNTER.series("\udc80"), 1)]))


@pytest.mark.parametrize(
    ("accept", "exposition"),
    [
        ("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2", Exposition.OPEN_METRICS),
        ("text/plain;version=0.0.4", Exposition.TEXT),
        ("*/*", Exposition.TEXT),
        ("", Exposition.TEXT),
    ],
)
def test_format_is_the_one_that_was_asked_for(accept: str, exposition: Exposition) -> None:
    assert exposition_for(accept) is exposition


def test_long_page_leaves_the_loop_to_others() -> None:
    """Another task gets turns while the page is made, and none has to wait for long."""

    def many() -> Iterator[Sample]:
        return ((COUNTER.series(number), number) for number in range(60_000))

    async def main() -> int:
        turns = 0
        is_over = False

        async def count_turns() -> None:
            nonlocal turns
            while not is_over:
                turns += 1
                await asyncio.sleep(0)

        async def families() -> AsyncIterator[Family]:
            yield Family(COUNTER, many())

        async with asyncio.TaskGroup() as group:
            group.create_task(count_turns())
            pieces = await write_page(families(), Exposition.TEXT, Pace(SystemClock()))
            is_over = True
        assert len(b"".join(pieces).splitlines()) == 60_002
        return turns

    assert asyncio.run(main()) > 5
