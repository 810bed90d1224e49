"""Messages as they come: those that are written from now on, or from a place on.

A topic may bring more than anybody can look at. Of what comes at once the newest are told and the others
counted; a reader that falls far behind goes on at the end.
"""

import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from penstock.client import Consumer, Message, TopicPartition
from penstock.gateway.console.filters.candidate import Candidate, Decode
from penstock.gateway.console.filters.terms import Wanted
from penstock.gateway.console.messages.reading import Located
from penstock.records.record import Record

SHOWN_PER_STEP_MAX = 200
READ_PER_STEP_MAX = 2_000
LAG_MAX = 50_000
_LAG_SECONDS = 2.0
"""Between one look at the lag and the next."""


class Came(NamedTuple):
    """What came since the last step."""

    messages: list[Located]
    skipped: int
    """Messages that were wanted, or not looked at, and are not told."""
    seen: int
    """Messages that were looked at."""


def tail(
    consumer: Consumer, topic: str, *, start: Mapping[int, int], wanted: Wanted | None, decode: Decode
) -> Iterator[Came]:
    """Steps for ever; nothing is waited for."""
    consumer.assign({TopicPartition(topic, number): offset for number, offset in start.items()})
    looked = time.monotonic()
    while True:
        came = [_located(each) for each in consumer.poll(0.0, READ_PER_STEP_MAX)]
        found = [each for each in came if wanted is None or wanted(Candidate(*each, decode))]
        skipped = max(0, len(found) - SHOWN_PER_STEP_MAX)
        if time.monotonic() - looked > _LAG_SECONDS:
            skipped += _caught_up(consumer)
            looked = time.monotonic()
        yield Came(found[-SHOWN_PER_STEP_MAX:], skipped, len(came))


def _caught_up(consumer: Consumer) -> int:
    """Go to the end if that is far; how many messages were left out."""
    behind = consumer.lag().total
    if behind <= LAG_MAX:
        return 0
    consumer.seek_to_end()
    return behind


def _located(message: Message) -> Located:
    record = Record(
        offset=message.offset,
        timestamp=message.timestamp_ms,
        key=message.raw_key,
        value=message.raw_value,
        headers=tuple(message.headers),
    )
    return Located(message.partition, record)
