"""What streams of messages are made of: searches, live messages and exports, as pieces of an answer."""

from collections.abc import Iterator
from typing import Any

from penstock.client import IsolationLevel
from penstock.gateway.console.messages.asking import Asked
from penstock.gateway.console.messages.cursor import format_cursor, parse_cursor
from penstock.gateway.console.messages.documents import documents
from penstock.gateway.console.messages.export import Export
from penstock.gateway.console.messages.payloads import PREVIEW
from penstock.gateway.console.messages.reading import Reading
from penstock.gateway.console.messages.search import Search, Step
from penstock.gateway.console.messages.tail import Came, tail
from penstock.gateway.console.messages.telling import told_message
from penstock.gateway.console.messages.topic_ranges import clamped
from penstock.gateway.console.streaming import Pause, Pieces, event
from penstock.gateway.kafka.access import KafkaAccess
from penstock.gateway.payloads.decoding import SchemaDecoding
from penstock.wire_client.fetching import FetchLimits

TAIL_PAUSE_SECONDS = 0.15


def search_events(kafka: KafkaAccess, decoding: SchemaDecoding, question: Asked, limit: int) -> Pieces:
    """A search, which ends by itself."""
    with kafka.cluster() as cluster:
        running = Search(
            cluster=cluster,
            topic=question.topic,
            ranges=question.ranges(cluster),
            wanted=question.wanted or (lambda _: True),
            decode=documents(decoding),
            limit=limit,
            is_read_committed=question.is_read_committed,
        )
        for step in running.steps():
            yield from _told_step(step, decoding)
        yield event(
            "end",
            {
                "is_complete": running.is_complete,
                "before": None if running.is_complete else format_cursor(running.cursor),
                "notes": running.notes,
            },
        )


def _told_step(step: Step, decoding: SchemaDecoding) -> Iterator[bytes]:
    progress = step.progress
    if step.matches:
        told = [told_message(each, decoding, PREVIEW) for each in step.matches]
        yield event("matches", {"messages": told})
    yield event(
        "progress",
        {
            "scanned": progress.scanned,
            "total": progress.total,
            "matched": progress.matched,
            "seconds": progress.seconds,
        },
    )


def tail_events(kafka: KafkaAccess, decoding: SchemaDecoding, question: Asked, after: str) -> Pieces:
    """Live messages, for as long as somebody listens."""
    with kafka.cluster() as cluster:
        ranges = question.ranges(cluster)
    start = clamped(parse_cursor(after) if after else {}, ranges, otherwise_end=True)
    yield event("start", {"after": format_cursor(start)})
    level = IsolationLevel.READ_COMMITTED if question.is_read_committed else IsolationLevel.READ_UNCOMMITTED
    with kafka.new_consumer(level) as consumer:
        for came in tail(
            consumer, question.topic, start=start, wanted=question.wanted, decode=documents(decoding)
        ):
            if came.messages or came.skipped:
                yield event("messages", _told_came(came, decoding))
            if not came.seen:
                yield Pause(seconds=TAIL_PAUSE_SECONDS)


def _told_came(came: Came, decoding: SchemaDecoding) -> dict[str, Any]:
    told = [told_message(each, decoding, PREVIEW) for each in came.messages]
    return {"messages": told, "skipped": came.skipped}


def export_pieces(
    kafka: KafkaAccess, decoding: SchemaDecoding, question: Asked, *, format: str, limit: int
) -> Pieces:
    """The lines of a file."""
    with kafka.cluster() as cluster:
        reading = Reading(
            cluster=cluster,
            topic=question.topic,
            windows=question.ranges(cluster),
            limits=FetchLimits(is_read_committed=question.is_read_committed),
        )
        made = Export(
            reading=reading,
            wanted=question.wanted,
            decode=decoding,
            limit=limit,
        )
        yield from made.csv() if format == "csv" else made.json_lines()
