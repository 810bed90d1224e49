"""``GET /topics/{topic}/records``: some records, and a cursor to go on with."""

import time
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from penstock.gateway.errors import GatewayError
from penstock.gateway.gateway import Gateway
from penstock.gateway.kafka.record_reader import ReadRecord, RecordReader
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
from penstock.gateway.rest.records.cursor import Cursor
from penstock.gateway.rest.records.formats import Format, dump
from penstock.gateway.rest.records.schema_payloads import SchemaPayloads
from penstock.gateway.rest.records.shown import ShownRecord, Telling, show_record
from penstock.gateway.rest.records.start import Start, begin

LIMIT_MAX = 10_000
WAIT_MS_MAX = 30_000
ANSWER_BYTES_MAX = 8 * 1024 * 1024
"""Of keys, values and headers in one answer; at least one record is always told."""

_POLL_RECORDS = 500
_SLICE_MS = 250
"""So often it is looked whether the gateway is to stop."""


class Page(BaseModel):
    """Records, and where to go on."""

    records: list[ShownRecord]
    cursor: str
    """Give it back to read on, without losing or repeating anything."""
    is_at_end: bool
    """Whether there was nothing more at that moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWish:
    """How much is wanted, and how long it is waited for."""

    limit: int
    max_wait_ms: int
    is_read_committed: bool


def read_router(gateway: Gateway) -> APIRouter:
    """The route that reads."""
    routes = APIRouter(tags=["records"])
    payloads = SchemaPayloads(gateway.registry)

    @routes.get("/topics/{topic:name}/records", response_model=Page)
    def read_records(  # noqa: PLR0913 - one parameter of the query each.
        topic: TopicName,
        partition: PartitionNumber = None,
        offset: OffsetNumber = None,
        timestamp: Timestamp = None,
        begin_at: From = None,
        cursor: CursorText = None,
        limit: Annotated[int, Query(ge=1, le=LIMIT_MAX, description="The most records.")] = 100,
        max_wait_ms: Annotated[
            int, Query(ge=0, le=WAIT_MS_MAX, description="How long to wait for the first record.")
        ] = 500,
        isolation: IsolationLevel = Isolation.READ_COMMITTED,
        key_format: KeyFormat = Format.AUTO,
        value_format: ValueFormat = Format.AUTO,
    ) -> Response:
        """Read records of a topic, from the oldest on unless said otherwise.

        Records of several partitions come in the order of their timestamps, as far as they are read together.
        """
        start = Start(partition=partition, cursor=cursor, offset=offset, timestamp_ms=timestamp, end=begin_at)
        wish = PageWish(
            limit=limit,
            max_wait_ms=max_wait_ms,
            is_read_committed=isolation is Isolation.READ_COMMITTED,
        )
        page = read_page(gateway, topic, start, wish=wish)
        telling = Telling(key_format=key_format, value_format=value_format, decode=payloads.decode)
        return Response(dump(page.shown(telling)), media_type="application/json")

    return routes


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPage:
    """What was read."""

    records: list[ReadRecord]
    cursor: Cursor
    is_at_end: bool

    def shown(self, telling: Telling) -> dict[str, Any]:
        """As JSON."""
        return {
            "records": [show_record(found, telling) for found in self.records],
            "cursor": str(self.cursor),
            "is_at_end": self.is_at_end,
        }


def read_page(gateway: Gateway, topic: str, start: Start, *, wish: PageWish) -> ReadPage:
    """Read as much as is there and wanted; wait only if there is nothing."""
    with gateway.kafka.cluster() as cluster:
        began = begin(cluster, topic, start, is_read_committed=wish.is_read_committed)
        reader = RecordReader(cluster, topic, began.positions, is_read_committed=wish.is_read_committed)
        records = _read(reader, gateway, wish)
    if not records and reader.trouble:
        raise GatewayError(503, reader.trouble, error_code=50003, error="LEADER_NOT_AVAILABLE")
    return ReadPage(
        records=records,
        cursor=Cursor(positions=reader.positions, has_others=began.has_others),
        is_at_end=reader.is_at_end,
    )


def _read(reader: RecordReader, gateway: Gateway, wish: PageWish) -> list[ReadRecord]:
    deadline = time.monotonic() + wish.max_wait_ms / 1000
    records: list[ReadRecord] = []
    size = wait_ms = 0
    while len(records) < wish.limit and size < ANSWER_BYTES_MAX:
        room = min(wish.limit - len(records), _POLL_RECORDS)
        found = reader.poll(records_max=room, wait_ms=wait_ms)
        records += found
        size += sum(map(_size, found))
        left_ms = int((deadline - time.monotonic()) * 1000)
        is_over = left_ms <= 0 or gateway.closing.is_set()
        if (reader.is_at_end and records) or (is_over and not found):
            break
        wait_ms = 0 if found else min(left_ms, _SLICE_MS)
    return records


def _size(found: ReadRecord) -> int:
    record = found.record
    headers = sum(len(name) + len(data or b"") for name, data in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
