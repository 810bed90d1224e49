"""Messages: pages of them, searches, live ones, and exports."""

import base64
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict

from penstock.gateway.console.console import Console
from penstock.gateway.console.messages.asking import Asked, asked, moment
from penstock.gateway.console.messages.cursor import format_cursor, parse_cursor
from penstock.gateway.console.messages.export import EXPORT_MAX
from penstock.gateway.console.messages.page import MESSAGES_MAX, Page, Pages
from penstock.gateway.console.messages.payloads import PREVIEW, WHOLE
from penstock.gateway.console.messages.search import MATCHES_MAX
from penstock.gateway.console.messages.sources import export_pieces, search_events, tail_events
from penstock.gateway.console.messages.telling import told_message
from penstock.gateway.console.messages.topic_ranges import TopicRanges, clamped, cursor_at
from penstock.gateway.console.streaming import download, event_stream
from penstock.gateway.errors import GatewayError
from penstock.gateway.payloads.decoding import SchemaDecoding
from penstock.gateway.payloads.encoding import encode_document
from penstock.gateway.payloads.ready_schema import find_schema
from penstock.wire_client.fetching import OffsetRange

_FORMATS = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}

Question = Annotated[Asked, Depends(asked)]


class Document(BaseModel):
    """What somebody typed, and the subject whose schema it follows."""

    model_config = ConfigDict(extra="forbid")

    subject: str
    document: Any


def router(console: Console) -> APIRouter:
    """The routes of messages."""
    routes = APIRouter(prefix="/messages/{topic:name}")
    decoding = SchemaDecoding(find=partial(find_schema, console.gateway.registry))
    _add_streams(routes, console, decoding)
    _add_pages(routes, console, decoding)
    return routes


def _add_pages(routes: APIRouter, console: Console, decoding: SchemaDecoding) -> None:
    @routes.get("")
    def page(
        question: Question,
        after: str = "",
        at: str = "",
        limit: Annotated[int, Query(ge=1, le=MESSAGES_MAX)] = 50,
    ) -> dict[str, Any]:
        """Messages over all partitions, newest first: the last ones, or those beside a cursor or a time."""
        with console.kafka.cluster() as cluster:
            ranges = replace(question, before="").ranges(cluster)
            pages = Pages(
                cluster=cluster,
                topic=question.topic,
                ranges=ranges,
                is_read_committed=question.is_read_committed,
            )
            if (at_ms := moment(at, "at")) is not None:
                start = cursor_at(cluster, question.topic, ranges, timestamp_ms=at_ms)
                found = pages.after(start, count=limit)
            elif after:
                found = pages.after(clamped(parse_cursor(after), ranges, otherwise_end=True), count=limit)
            else:
                cursor = parse_cursor(question.before) if question.before else {}
                found = pages.before(clamped(cursor, ranges, otherwise_end=True), count=limit)
        return _told_page(question.topic, found, ranges, decoding)

    @routes.post("/encode")
    def encode(document: Document) -> dict[str, str]:
        """A document as bytes, by the newest schema of a subject, ready to be sent to the topic."""
        payload = encode_document(console.gateway.registry, document.document, subject=document.subject)
        return {"base64": base64.b64encode(payload).decode()}

    @routes.get("/{partition}/{offset}")
    def one(topic: str, partition: int, offset: int) -> dict[str, Any]:
        """One message, whole, and the places beside it."""
        question = asked(topic, partitions=str(partition), isolation="read_uncommitted")
        with console.kafka.cluster() as cluster:
            ranges = question.ranges(cluster)
            pages = Pages(cluster=cluster, topic=topic, ranges=ranges, is_read_committed=False)
            found = pages.after(clamped({partition: offset}, ranges, otherwise_end=True), count=1)
        if not found.messages or found.messages[0].record.offset != offset:
            raise _no_message(topic, partition, offset, ranges[partition])
        return {
            "topic": topic,
            "range": {"start": ranges[partition].start, "end": ranges[partition].end},
            **told_message(found.messages[0], decoding, WHOLE),
        }


def _add_streams(routes: APIRouter, console: Console, decoding: SchemaDecoding) -> None:
    @routes.get("/search")
    def search(
        request: Request,
        question: Question,
        limit: Annotated[int, Query(ge=1, le=MATCHES_MAX)] = 500,
    ) -> Any:
        """Events: ``matches`` (newest first), ``progress``, and ``end``, which says whether all was seen."""
        return event_stream(request, console.gateway, search_events(console.kafka, decoding, question, limit))

    @routes.get("/tail")
    def live(request: Request, question: Question, after: str = "") -> Any:
        """Events ``messages`` as they come, with ``skipped`` where more came than can be looked at."""
        return event_stream(request, console.gateway, tail_events(console.kafka, decoding, question, after))

    @routes.get("/export")
    def export(
        request: Request,
        question: Question,
        format: Literal["jsonl", "csv"] = "jsonl",
        limit: Annotated[int, Query(ge=1, le=EXPORT_MAX)] = 100_000,
    ) -> Any:
        """A file of messages, oldest first, as far as the limit goes."""
        return download(
            request,
            console.gateway,
            export_pieces(console.kafka, decoding, question, format=format, limit=limit),
            media_type=_FORMATS[format],
            file_name=f"{question.topic}.{format}",
        )


def _told_page(topic: str, page: Page, ranges: TopicRanges, decoding: SchemaDecoding) -> dict[str, Any]:
    has_older = any(page.older[number] > each.start for number, each in ranges.items())
    has_newer = any(page.newer[number] < each.end for number, each in ranges.items())
    return {
        "topic": topic,
        "messages": [told_message(each, decoding, PREVIEW) for each in page.messages],
        "older": format_cursor(page.older) if has_older else None,
        "newer": format_cursor(page.newer) if has_newer else None,
        "end": format_cursor({number: each.end for number, each in ranges.items()}),
        "partitions": [
            {"partition": number, "start": each.start, "end": each.end} for number, each in ranges.items()
        ],
        "notes": page.notes,
    }


def _no_message(topic: str, partition: int, offset: int, held: OffsetRange) -> GatewayError:
    place = f"Offset {offset} of partition {partition} of {topic!r}"
    if held.start <= offset < held.end:
        why = "holds no message: it was compacted away, or it is a transaction's marker"
    else:
        why = f"is not there: the partition holds offsets {held.start} to {held.end - 1}"
        why = "is not there: the partition is empty" if held.start == held.end else why
    return GatewayError(404, f"{place} {why}.", error_code=40403)
