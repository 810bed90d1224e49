"""``POST /topics/{topic}/records``: records to be stored by all in-sync replicas, and where they went."""

import time
from typing import Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict

from penstock.client import Producer
from penstock.client.errors import PenstockClientError, RequestTimedOut, UnknownTopic
from penstock.client.producing.delivery import Delivery
from penstock.gateway.errors import GatewayError, gateway_error
from penstock.gateway.gateway import Gateway
from penstock.gateway.kafka.access import REQUEST_TIMEOUT_MS
from penstock.gateway.rest.parameters import ErrorBody, TopicName
from penstock.gateway.rest.records.formats import Format, dump, encode
from penstock.gateway.rest.records.schema_payloads import Encode, SchemaChoice, SchemaPayloads
from penstock.gateway.rest.records.start import check_partitions
from penstock.gateway.rest.records.wanted import WantedRecord, WantedRecords

Outcome = Delivery | GatewayError
"""A record on its way, or why it never was."""


class StoredRecord(BaseModel):
    """Where a record is, or why it is nowhere."""

    partition: int | None = None
    offset: int | None = None
    timestamp: int | None = None
    error_code: int | None = None
    message: str | None = None
    error: str | None = None


class StoredRecords(BaseModel):
    """One entry for each record, in the order in which they were given."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"offsets": [{"partition": 0, "offset": 17, "timestamp": 1763400000000}]}
        }
    )

    offsets: list[StoredRecord]


class NotAllStored(ErrorBody):
    """Some records were not stored: the error of the first, and the fate of each."""

    offsets: list[StoredRecord]


def produce_router(gateway: Gateway) -> APIRouter:
    """The route that produces."""
    routes = APIRouter(tags=["records"])
    payloads = SchemaPayloads(gateway.registry)
    failures: dict[int | str, dict[str, Any]] = {
        status: {"model": NotAllStored} for status in (404, 422, 503, 504)
    }

    @routes.post("/topics/{topic:name}/records", response_model=StoredRecords, responses=failures)
    def produce_records(topic: TopicName, wanted: WantedRecords) -> Response:
        """Send records, and wait until they are stored by all in-sync replicas (acks=all, idempotent).

        If one of them is not stored, the answer is an error, which tells the fate of each.
        """
        numbers = gateway.kafka.topics.partitions(topic)
        encoding = RecordEncoding(payloads, topic, wanted)
        outcomes = [_send(gateway, topic, numbers, encoding, record) for record in wanted.records]
        told = _fates(outcomes)
        failed = next((each for each in told if isinstance(each, GatewayError)), None)
        body: dict[str, Any] = {
            "offsets": [each.body() if isinstance(each, GatewayError) else each for each in told]
        }
        status = 200 if failed is None else failed.status
        if failed is not None:
            body = failed.body() | body
        return Response(dump(body), status_code=status, media_type="application/json")

    return routes


class RecordEncoding:
    """Keys and values of one request as bytes; a schema is looked for once, if at all."""

    def __init__(self, payloads: SchemaPayloads, topic: str, wanted: WantedRecords) -> None:
        self._payloads = payloads
        self._topic = topic
        self._wanted = wanted
        self._encoders: dict[str, Encode] = {}

    def encoded(self, record: WantedRecord, what: Literal["key", "value"]) -> bytes | None:
        """The bytes of a record's key or value; 404 or 422 if there are none."""
        data = getattr(record, what)
        form = self._wanted.format_of(record, what)
        if data is None or form is not Format.SCHEMA:
            return encode(data, form, what=what)
        if what not in self._encoders:
            choice = self._wanted.value_schema if what == "value" else self._wanted.key_schema
            self._encoders[what] = self._payloads.encoder(
                choice or SchemaChoice(subject=f"{self._topic}-{what}")
            )
        return self._encoders[what](data)


def _send(
    gateway: Gateway, topic: str, numbers: range, encoding: RecordEncoding, record: WantedRecord
) -> Outcome:
    try:
        if record.partition is not None:
            check_partitions(topic, [record.partition], numbers)
        value, key = encoding.encoded(record, "value"), encoding.encoded(record, "key")
        given = (topic, value, key, record.raw_headers() or None, record.partition, record.timestamp)
        return _sent(gateway.kafka.producer, *given)
    except (PenstockClientError, GatewayError) as error:
        return gateway_error(error)


def _sent(producer: Producer, topic: str, *record: Any) -> Delivery:
    """Send it; a partition that was added lately is not known to the producer before it looks again."""
    try:
        return producer.send(topic, *record)
    except UnknownTopic:
        producer.refresh_partitions(topic)
        return producer.send(topic, *record)


def _fates(outcomes: list[Outcome]) -> list[GatewayError | dict[str, int]]:
    """What became of each, once that is known of all."""
    deadline = time.monotonic() + REQUEST_TIMEOUT_MS / 1000 + 1
    return [each if isinstance(each, GatewayError) else _fate(each, deadline) for each in outcomes]


def _fate(delivery: Delivery, deadline: float) -> GatewayError | dict[str, int]:
    try:
        stored = delivery.result(max(0.0, deadline - time.monotonic()))
    except PenstockClientError as error:
        return gateway_error(error)
    except TimeoutError:
        return gateway_error(RequestTimedOut("The record was not acknowledged", code="REQUEST_TIMED_OUT"))
    return {"partition": stored.partition, "offset": stored.offset, "timestamp": stored.timestamp_ms}
