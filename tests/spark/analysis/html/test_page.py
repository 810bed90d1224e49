"""The page: complete in itself, and deaf to whatever messages hold."""

import re
from html.parser import HTMLParser

from penstock.analysis.partition_analysis import PartitionAnalysis, TopicAnalysis
from penstock.analysis.record_statistics import RecordStatistics
from penstock.model.ids import TopicPartition
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.record import NewRecord
from penstock.spark.analysis.heat_map import HeatMap, heat_map
from penstock.spark.analysis.html.page import html_page
from penstock.spark.analysis.key_summary import KeySummary
from penstock.spark.analysis.topic_report import Compaction, ProtobufGuess, TopicReport, TypeCount
from penstock.spark.analysis.value_kinds import Kind

EVIL = "<script>alert('1')</script>\"&"
TIME_MS = 1_769_846_400_000
VOID = {"meta"}


class Reader(HTMLParser):
    """Checks that tags are closed in their order, and remembers them with all texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


def report(topic: str, count: int) -> TopicReport:
    statistics = RecordStatistics()
    if count:
        records = [
            NewRecord(key=b"k", value=b"v" * 100, timestamp=TIME_MS + n * 60_000) for n in range(count)
        ]
        batch = build_batch(records, codec=Codec.ZSTD)
        statistics.add_batch(batch, read_header(batch))
        statistics.keys = KeySummary(
            keyed_count=count, null_count=0, distinct_count=1, top=[(EVIL.encode(), count)]
        )
    partition = PartitionAnalysis(partition=TopicPartition(topic, 0), statistics=statistics)
    return TopicReport(
        analysis=TopicAnalysis(topic=topic, partitions=(partition,), statistics=statistics),
        kinds=(TypeCount(kind=Kind.JSON, type=None, messages=count, message_bytes=count * 100),),
        types=(TypeCount(kind=Kind.JSON, type=EVIL, messages=count, message_bytes=count * 100),),
        protobuf=ProtobufGuess(sampled=3, matching=1),
        compaction=Compaction(messages=count, message_bytes=100 * count, removable_messages=count),
        heat_map=heat_map({(20_484, 8): count}, weekly=False) if count else HeatMap(days=(), counts=()),
    )


def test_what_messages_hold_is_text_and_nothing_else() -> None:
    reader = read(html_page([report("orders", 5)], description=EVIL, written_ms=TIME_MS))

    assert "script" not in reader.tags
    assert any(text == EVIL[:23] + "…" for text in reader.texts)
    assert any(EVIL in text for text in reader.texts)
    assert reader.tags.count("svg") == 8


def test_nothing_is_loaded_from_anywhere() -> None:
    page = html_page([report("orders", 5), report("empty", 0)], description="files", written_ms=TIME_MS)

    assert not re.search(r"https?:|url\(|@import|<link|<img|<script|javascript:", page)
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page


def test_topics_have_links_and_an_empty_one_no_plots() -> None:
    page = html_page([report("orders", 5), report("empty", 0)], description="files", written_ms=TIME_MS)

    assert '<a href="#topic-orders">' in page
    assert '<section id="topic-orders">' in page
    assert "There are no messages." in page
    assert read(page).tags.count("svg") == 8


def test_no_topics_make_a_page_too() -> None:
    assert "What topics hold" in read(html_page([], description="files", written_ms=TIME_MS)).texts
