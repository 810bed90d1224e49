"""Where reading begins: what ``--offset`` may say, and the offset it means in a given partition.

Everything is resolved to a plain offset before the first fetch, so that "the end" is the end at the moment
the command started, and no record written after it is missed.
"""

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from penstock.cli.durations import parse_instant
from penstock.cli.librdkafka import ANSWER_SECONDS_MAX, ask
from penstock.config.definition import LONG_MAX
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, TopicPartition


class Reference(StrEnum):
    """What the number of a ``Start`` is counted from."""

    BEGINNING = "beginning"
    END = "end"
    OFFSET = "offset"
    TIMESTAMP = "timestamp"


class Start(NamedTuple):
    """A starting point; ``number`` is how far before the end, an offset, or milliseconds."""

    reference: Reference
    number: int = 0


def parse_start(text: str | None, *, from_beginning: bool) -> Start:
    """Read ``--offset``; without it, ``--from-beginning`` decides between the two ends."""
    if text is None:
        return Start(Reference.BEGINNING if from_beginning else Reference.END)
    if from_beginning:
        raise UsageError("--from-beginning and --offset exclude each other.")
    if text in (Reference.BEGINNING, Reference.END):
        return Start(Reference(text))
    try:
        number = int(text.removeprefix("@"))
    except ValueError:
        raise UsageError(f"--offset {text!r} is none of: N, -N, @MILLISECONDS, 'beginning', 'end'.") from None
    if text.startswith("@"):
        return Start(Reference.TIMESTAMP, parse_instant(text, option="--offset"))
    if number > LONG_MAX:
        raise UsageError(f"--offset {text} is larger than any offset, which is {LONG_MAX} at most.")
    return Start(Reference.END, -number) if text.startswith("-") else Start(Reference.OFFSET, number)


def resolve(consumer: "Consumer", partition: "TopicPartition", start: Start) -> int:
    """The offset ``start`` means in ``partition`` right now."""
    if start.reference is Reference.OFFSET:
        return start.number
    first, end = ask(
        lambda: consumer.get_watermark_offsets(partition, timeout=ANSWER_SECONDS_MAX),
        doing=f"look up the offsets of {partition.topic}-{partition.partition}",
    )
    match start.reference:
        case Reference.BEGINNING:
            return int(first)
        case Reference.END:
            return max(int(first), int(end) - start.number)
        case Reference.TIMESTAMP:
            found = _offset_at(consumer, partition, start.number)
            return int(end) if found < 0 else found


def _offset_at(consumer: "Consumer", partition: "TopicPartition", timestamp_ms: int) -> int:
    from confluent_kafka import TopicPartition

    question = TopicPartition(partition.topic, partition.partition, timestamp_ms)
    (answer,) = ask(
        lambda: consumer.offsets_for_times([question], timeout=ANSWER_SECONDS_MAX),
        doing=f"look up a timestamp in {partition.topic}-{partition.partition}",
    )
    return int(answer.offset)
