"""``GET /topics/{topic}/stream``: records as server-sent events, for browsers and whoever can read lines."""

from typing import Annotated

import anyio
import anyio.to_thread
from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse

from penstock.gateway.console.filters.language import compile_filter
from penstock.gateway.gateway import Gateway
from penstock.gateway.rest.parameters import (
    CursorText,
    From,
    Isolation,
    IsolationLevel,
    KeyFormat,
    OffsetNumber,
    PartitionNumber,
    Timestamp,
    TopicName,
    ValueFormat,
)
from penstock.gateway.rest.records.formats import Format
from penstock.gateway.rest.records.record_stream import EventResponse, StreamWish, open_stream
from penstock.gateway.rest.records.schema_payloads import SchemaPayloads
from penstock.gateway.rest.records.shown import Telling
from penstock.gateway.rest.records.start import End, Start

_EXAMPLE = 'id: 0:18,*\nevent: record\ndata: {"partition":0,"offset":17,"value":{"order":1}}\n\n'


def stream_router(gateway: Gateway) -> APIRouter:
    """The route that streams."""
    routes = APIRouter(tags=["records"])
    payloads = SchemaPayloads(gateway.registry)
    threads = anyio.CapacityLimiter(gateway.settings.streams_max)

    @routes.get(
        "/topics/{topic:name}/stream",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {"example": _EXAMPLE}}}},
    )
    async def stream_records(  # noqa: PLR0913 - one parameter of the query each.
        topic: TopicName,
        partition: PartitionNumber = None,
        offset: OffsetNumber = None,
        timestamp: Timestamp = None,
        begin_at: From = None,
        cursor: CursorText = None,
        isolation: IsolationLevel = Isolation.READ_COMMITTED,
        key_format: KeyFormat = Format.AUTO,
        value_format: ValueFormat = Format.AUTO,
        wanted: Annotated[
            str | None,
            Query(alias="filter", max_length=2_000, description="Only records that this holds for."),
        ] = None,
        last_event_id: Annotated[
            str | None, Header(max_length=12_000, description="The id of the last event that was seen.")
        ] = None,
    ) -> StreamingResponse:
        """Stream records as they come: those that are new, unless said otherwise.

        Events are `record`, with the record as JSON, and `trouble` while the cluster cannot be read. Comments
        keep the connection alive. With `Last-Event-ID`, as an EventSource sends it, it goes on after that.
        """
        if last_event_id:
            start = Start(cursor=last_event_id)
        else:
            is_unsaid = all(each is None for each in (offset, timestamp, begin_at, cursor))
            end = End.LATEST if is_unsaid else begin_at
            start = Start(partition=partition, cursor=cursor, offset=offset, timestamp_ms=timestamp, end=end)
        wish = StreamWish(
            topic=topic,
            start=start,
            is_read_committed=isolation is Isolation.READ_COMMITTED,
            telling=Telling(key_format=key_format, value_format=value_format, decode=payloads.decode),
            is_wanted=None if wanted is None else compile_filter(wanted),
        )
        return EventResponse(await anyio.to_thread.run_sync(open_stream, gateway, wish), threads)

    return routes
