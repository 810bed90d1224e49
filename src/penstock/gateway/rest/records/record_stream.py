"""One stream of records as server-sent events.

Every event's id is the cursor after its record, which an ``EventSource`` gives back when it comes again: it
goes on exactly there. Nothing is queued: the next records are asked for when the last ones were taken, so
that a slow reader holds one page of records and no more. Each stream has connections of its own to the
cluster, and is ended within a moment after its reader has gone.
"""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
from fastapi.responses import StreamingResponse

from penstock.gateway.console.filters.candidate import MISSING, Candidate
from penstock.gateway.console.filters.terms import Wanted
from penstock.gateway.errors import gateway_error
from penstock.gateway.gateway import Gateway
from penstock.gateway.kafka.record_reader import ReadRecord, RecordReader
from penstock.gateway.payloads.decoded import UndecodableError
from penstock.gateway.rest.records.cursor import Cursor
from penstock.gateway.rest.records.formats import dump
from penstock.gateway.rest.records.shown import Telling, show_record
from penstock.gateway.rest.records.start import Start, begin
from penstock.model.errors import PenstockError
from penstock.wire_client.cluster import Cluster

HEARTBEAT_SECONDS = 10.0
PAGE_RECORDS = 500
WAIT_MS = 250
"""The longest that one look for records takes: so soon a stream ends when its reader has gone."""

RETRY_MS = 2_000
"""After so long an ``EventSource`` comes again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamWish:
    """What is to be streamed, and how it is told."""

    topic: str
    start: Start
    is_read_committed: bool
    telling: Telling
    is_wanted: Wanted | None


def open_stream(gateway: Gateway, wish: StreamWish) -> "RecordStream":
    """Look where to begin, so that what cannot be streamed is refused with a status. It must be closed."""
    gateway.streams.enter()
    try:
        cluster = gateway.kafka.new_cluster()
        try:
            began = begin(cluster, wish.topic, wish.start, is_read_committed=wish.is_read_committed)
            return RecordStream(gateway, cluster, wish, began=began)
        except BaseException:
            cluster.close()
            raise
    except BaseException:
        gateway.streams.leave()
        raise


class RecordStream:
    """One open stream; one thread at a time asks for its ``next_events``."""

    def __init__(self, gateway: Gateway, cluster: Cluster, wish: StreamWish, *, began: Cursor) -> None:
        self._gateway = gateway
        self._cluster = cluster
        self._wish = wish
        self._positions = dict(began.positions)
        self._has_others = began.has_others
        self._told_trouble = ""
        self._last_told = time.monotonic()
        self._reader = RecordReader(
            cluster, wish.topic, began.positions, is_read_committed=wish.is_read_committed
        )

    @property
    def is_to_end(self) -> bool:
        """Whether the gateway stops."""
        return self._gateway.closing.is_set()

    def next_events(self) -> bytes:
        """The next few events; nothing if there is nothing to tell yet."""
        found = self._reader.poll(records_max=PAGE_RECORDS, wait_ms=WAIT_MS)
        events = [*self._trouble(), *(event for each in found for event in self._record(each))]
        if not found:
            self._positions.update(self._reader.positions)
        now = time.monotonic()
        if not events and now - self._last_told > HEARTBEAT_SECONDS:
            events = [b": still here\nid: %b\n\n" % self._cursor()]
        if events:
            self._last_told = now
        return b"".join(events)

    def close(self) -> None:
        """Let go of the cluster, and of the place among the streams."""
        self._cluster.close()
        self._gateway.streams.leave()

    def _record(self, found: ReadRecord) -> list[bytes]:
        self._positions[found.partition] = found.record.offset + 1
        wish = self._wish
        if wish.is_wanted is not None and not wish.is_wanted(
            Candidate(found.partition, found.record, self._document)
        ):
            return []
        data = dump(show_record(found, wish.telling))
        return [b"id: %b\nevent: record\ndata: %b\n\n" % (self._cursor(), data)]

    def _document(self, payload: bytes) -> Any:
        """What a filter looks into, of bytes that carry the number of a schema."""
        decode = self._wish.telling.decode
        try:
            return MISSING if decode is None else decode(payload).document
        except UndecodableError:
            return MISSING

    def _cursor(self) -> bytes:
        return str(Cursor(positions=self._positions, has_others=self._has_others)).encode()

    def _trouble(self) -> list[bytes]:
        """Once for each new trouble, and once when it is over."""
        trouble = self._reader.trouble
        if trouble == self._told_trouble:
            return []
        self._told_trouble = trouble
        return [b"event: trouble\ndata: %b\n\n" % dump({"message": trouble})]


class EventResponse(StreamingResponse):
    """The answer that a stream is; whatever ends it, the stream is closed at once."""

    def __init__(self, stream: RecordStream, threads: anyio.CapacityLimiter) -> None:
        super().__init__(
            _events(stream, threads),
            media_type="text/event-stream",
            headers={"X-Accel-Buffering": "no"},
        )
        self._stream = stream

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Stream until the reader has gone, the gateway stops, or the topic is no more."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._stream.close()


async def _events(stream: RecordStream, threads: anyio.CapacityLimiter) -> AsyncIterator[bytes]:
    yield b"retry: %d\n\n" % RETRY_MS
    try:
        while not stream.is_to_end:
            if events := await anyio.to_thread.run_sync(stream.next_events, limiter=threads):
                yield events
    except PenstockError as error:
        yield b"event: error\ndata: %b\n\n" % dump(gateway_error(error).body())
