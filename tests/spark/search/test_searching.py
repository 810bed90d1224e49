"""Searches find exactly what a loop over the same records finds."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.spark.archive.weeks import create_topic

from penstock.model.errors import UsageError
from penstock.spark.archive import ArchiveTrigger, FileSettings, archive_topics
from penstock.spark.search import ExpressionError, Search, search
from penstock.spark.search.searching import selecting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TIME_MS = 1_769_846_400_000
TOPIC = "searched"
COUNT = 200
PARTITIONS = 2
END_SECONDS_MAX = 120


class Message(NamedTuple):
    number: int
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: tuple[tuple[str, bytes | None], ...]

    @property
    def partition(self) -> int:
        return self.number % PARTITIONS

    @property
    def offset(self) -> int:
        return self.number // PARTITIONS

    @property
    def text(self) -> str:
        return (self.value or b"").decode(errors="replace")

    def field(self, name: str) -> object:
        try:
            found = json.loads(self.value or b"")
        except ValueError:
            return None
        return found.get(name) if isinstance(found, dict) else None


def message(number: int) -> Message:
    document = {
        "type": f"t{number % 3}",
        "amount": number if number % 4 else f"no number {number}",
        "user": {"name": f"n{number % 5}"},
        "ok": number > 9,
    }
    others = {1: b"plain ERR-%04d" % number, 2: None, 3: b"\xff\xfe"}
    return Message(
        number=number,
        key=None if number % 9 == 0 else b"key-%d" % (number % 6),
        value=others.get(number % 7, json.dumps(document).encode()),
        # They do not rise with offsets: every seventh is from before.
        timestamp_ms=TIME_MS + number * 1000 - (50_000 if number % 7 == 6 else 0),
        headers=(("trace", b"old"), ("trace", b"%d" % (number % 4))) if number % 2 else (),
    )


MESSAGES = [message(number) for number in range(COUNT)]


@pytest.fixture(scope="module")
def topic(bootstrap: str) -> str:
    from confluent_kafka import Producer

    create_topic(bootstrap, TOPIC, partitions=PARTITIONS)
    producer = Producer({"bootstrap.servers": bootstrap})
    for each in MESSAGES:
        producer.produce(
            TOPIC,
            partition=each.partition,
            key=each.key,
            value=each.value,
            timestamp=each.timestamp_ms,
            headers=list(each.headers),
        )
    assert producer.flush(30) == 0
    return TOPIC


@pytest.fixture
def pushing(spark: "SparkSession") -> Iterator[None]:
    """As the command has it: conditions on offsets and partitions become ranges."""
    name = "spark.sql.python.filterPushdown.enabled"
    spark.conf.set(name, "true")
    yield
    spark.conf.unset(name)


def number_of(each: Message) -> int:
    value = each.field("amount")
    return value if isinstance(value, int) else -1


CASES: dict[str, Callable[[Message], bool]] = {
    "key = 'key-3'": lambda each: each.key == b"key-3",
    "json:type = 't1' AND json:amount > 50": lambda each: each.field("type") == "t1" and number_of(each) > 50,
    "json:user.name = 'n2' OR value LIKE '%ERR-000%'": lambda each: (
        each.field("user") == {"name": "n2"} or "ERR-000" in each.text
    ),
    "headers['trace'] = '3' AND partition = 1 AND offset BETWEEN 10 AND 60": lambda each: (
        dict(each.headers).get("trace") == b"3" and each.partition == 1 and 10 <= each.offset <= 60
    ),
    "value IS NULL AND timestamp >= timestamp_millis(1769846450000)": lambda each: (
        each.value is None and each.timestamp_ms >= TIME_MS + 50_000
    ),
    "json:amount::int % 10 = 3": lambda each: number_of(each) % 10 == 3 and number_of(each) > 0,
    "json:ok = false": lambda each: each.field("ok") is False,
    "json:amount::int / 0 = 1 OR cast(value AS int) = 7": lambda each: False,
}


def found(spark: "SparkSession", wanted: Search) -> list[int]:
    rows = search(spark, wanted).select("partition", "offset").collect()
    return sorted(row["offset"] * PARTITIONS + row["partition"] for row in rows)


@pytest.mark.usefixtures("pushing")
def test_expressions_find_what_a_loop_finds(spark: "SparkSession", bootstrap: str, topic: str) -> None:
    options = {"kafka.bootstrap.servers": bootstrap}
    for expression, is_wanted in CASES.items():
        expected = [each.number for each in MESSAGES if is_wanted(each)]
        assert found(spark, Search(topic=topic, expression=expression, options=options)) == expected, (
            expression
        )


@pytest.mark.usefixtures("pushing")
def test_times_bound_a_search_though_they_do_not_rise(
    spark: "SparkSession", bootstrap: str, topic: str
) -> None:
    since_ms, until_ms = TIME_MS + 60_000, TIME_MS + 120_000
    within = [each for each in MESSAGES if since_ms <= each.timestamp_ms < until_ms]
    expected = [each.number for each in within if b"t" in (each.value or b"")]
    wanted = Search(
        topic=topic,
        text="t",
        since_ms=since_ms,
        until_ms=until_ms,
        options={"kafka.bootstrap.servers": bootstrap},
    )
    assert found(spark, wanted) == expected


def test_topic_and_archive_are_searched_together(
    spark: "SparkSession", bootstrap: str, topic: str, tmp_path: Path
) -> None:
    from confluent_kafka import Producer

    path, options = str(tmp_path / "archive"), {"kafka.bootstrap.servers": bootstrap}
    query = archive_topics(
        spark,
        path,
        options={**options, "subscribe": topic, "maxOffsetsPerTrigger": "100000"},
        settings=FileSettings(tasks_max=1),
        trigger=ArchiveTrigger(available_now=True),
    )
    assert query.awaitTermination(END_SECONDS_MAX)
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, partition=0, key=b"key-late", value=b"ERR-9999", timestamp=TIME_MS)
    assert producer.flush(30) == 0

    archived = [each.number for each in MESSAGES if "ERR-" in each.text]
    only = Search(topic=topic, regex="ERR-[0-9]{4}", archive=path)
    assert found(spark, only) == archived
    both = Search(topic=topic, regex="ERR-[0-9]{4}", archive=path, options=options)
    assert found(spark, both) == [*archived, COUNT]


@pytest.mark.parametrize(
    ("expression", "complaint", "position"),
    [
        ("key = 'a' AND nokey = 1", "mistake at position 15: there is no column 'nokey', there are key", 15),
        ("json:a > 1 AND lenght(key) = 1", "mistake at position 16: Spark has no function 'lenght'", 16),
        ("key = 'k' AND", "mistake at its end: Spark cannot read it from here on", 14),
        ("key = = 'k'", "mistake at position 7: Spark cannot read it", 7),
        ("key = 'x", "mistake at position 7: Spark cannot read it", 7),
        ("partition", "of type INT and so never true or false", 0),
        ("  ", "The expression is empty", 0),
    ],
)
def test_mistakes_are_told_in_a_sentence_with_their_position(
    spark: "SparkSession", expression: str, complaint: str, position: int
) -> None:
    wanted = Search(topic="any", expression=expression, options={"kafka.bootstrap.servers": "127.0.0.1:1"})
    with pytest.raises(ExpressionError, match=complaint) as raised:
        search(spark, wanted)
    assert raised.value.position == position
    assert "\n" not in str(raised.value)


def test_mistakes_in_columns_and_patterns_are_told_too(spark: "SparkSession") -> None:
    options = {"kafka.bootstrap.servers": "127.0.0.1:1"}
    with pytest.raises(UsageError, match="no regular expression"):
        search(spark, Search(topic="any", regex="(", options=options))
    with pytest.raises(ExpressionError, match="position 1: there is no column 'nothing'"):
        selecting(search(spark, Search(topic="any", text="x", options=options)), ["key", "nothing"])
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"


def test_searches_that_cannot_find_anything_are_mistakes() -> None:
    with pytest.raises(UsageError, match="Nothing says where to search"):
        Search(topic="any", text="x")
    with pytest.raises(UsageError, match="ends before it begins"):
        Search(topic="any", text="x", archive="a", since_ms=2, until_ms=1)
