"""What a broker does for GetTelemetrySubscriptions and PushTelemetry (KIP-714), with Kafka's answers.

A client belongs to no broker: it asks one, and may push to another. So nothing is kept that cannot be made
anew from the subscriptions and the client's id; the clients here are those that spoke lately. Sums are asked
for as those since the last push: then what several brokers have of one client adds up.
"""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.broker.metrics import table
from penstock.broker.metrics.metric import Family
from penstock.broker.telemetry.client import TelemetryClient, facts_of
from penstock.broker.telemetry.subscriptions import Subscriptions
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, DecodeError
from penstock.model.limits import TELEMETRY_CLIENTS_MAX
from penstock.records.compression import Codec
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsResponse
from penstock.wire.messages.push_telemetry import PushTelemetryRequest

if TYPE_CHECKING:
    from penstock.broker.broker import Broker
    from penstock.broker.telemetry.client_series import ClientSeries
    from penstock.broker.telemetry.otlp import Point

ACCEPTED_COMPRESSION = (Codec.ZSTD, Codec.LZ4, Codec.GZIP, Codec.SNAPPY)
"""Besides none at all; the best first, as in Kafka."""

RESERVED_IDS = frozenset({bytes(16), bytes(15) + b"\x01"})
"""Ids that no client has."""

SWEEP_SECONDS = 10.0
"""How often those that have gone are looked for, at most; only when somebody asks for something."""


class Telemetry:
    """Of one broker."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._subscriptions = Subscriptions()
        #: By their ids, the longest silent first.
        self._clients: dict[bytes, TelemetryClient] = {}
        #: There once somebody has pushed: most brokers need none of it.
        self._series: ClientSeries | None = None
        self._swept_at = broker.clock.monotonic()
        #: One push at a time is read, so that flushes never wait for threads that read pushes.
        self._reading = asyncio.Lock()
        broker.meters.sources.append(self._families)

    @property
    def is_wanted(self) -> bool:
        """Whether any metrics of any client are wanted."""
        self._subscriptions.follow(self._broker.image, self._broker.config)
        return not self._subscriptions.is_empty

    def subscribe(self, id: bytes, header: RequestHeader) -> GetTelemetrySubscriptionsResponse:
        """Tell a client what is wanted of it; ``ApiError`` when it asks too often."""
        now = self._broker.clock.monotonic()
        client = self._client(id if id != bytes(16) else self._broker.entropy.uuid(), header, now)
        client.check_question(now)
        client.last_error = ErrorCode.NONE
        return GetTelemetrySubscriptionsResponse(
            client_instance_id=client.id,
            subscription_id=client.subscription_id,
            accepted_compression_types=ACCEPTED_COMPRESSION,
            push_interval_ms=client.wanted.interval_ms,
            telemetry_max_bytes=self._broker.config.integer("telemetry.max.bytes"),
            delta_temporality=True,
            requested_metrics=client.wanted.metrics,
        )

    async def push(self, request: PushTelemetryRequest, header: RequestHeader) -> None:
        """Take in what a client says of itself; ``ApiError`` when it may not, or makes no sense."""
        if request.client_instance_id in RESERVED_IDS:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        now = self._broker.clock.monotonic()
        client = self._client(request.client_instance_id, header, now)
        try:
            self._check(client, request, now)
            client.is_terminating = request.terminating
            if request.metrics:
                await self._take(client, request)
        except ApiError as error:
            client.last_error = error.code
            client.is_terminating = request.terminating
            raise
        client.last_error = ErrorCode.NONE

    def _check(self, client: TelemetryClient, request: PushTelemetryRequest, now: float) -> None:
        """In Kafka's order."""
        client.check_turn(now, is_terminating=request.terminating)
        if request.subscription_id != client.subscription_id:
            raise ApiError(ErrorCode.UNKNOWN_SUBSCRIPTION_ID)
        if request.compression_type not in (Codec.NONE, *ACCEPTED_COMPRESSION):
            raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if len(request.metrics) > self._broker.config.integer("telemetry.max.bytes"):
            raise ApiError(ErrorCode.TELEMETRY_TOO_LARGE)

    async def _take(self, client: TelemetryClient, request: PushTelemetryRequest) -> None:
        workers = self._broker.workers
        async with self._reading:
            try:
                points = await workers.call(_read_push, request.compression_type, request.metrics)
            except DecodeError as error:
                raise ApiError(ErrorCode.INVALID_RECORD) from error
        # The loop has turned: a client that had to make room meanwhile must not leave series behind.
        if self._clients.get(client.id) is client:
            self._kept().take(client, points)

    def _kept(self) -> "ClientSeries":
        if self._series is None:
            from penstock.broker.telemetry.client_series import ClientSeries

            self._series = ClientSeries()
        return self._series

    def _client(self, id: bytes, header: RequestHeader, now: float) -> TelemetryClient:
        """The client of an id, who speaks right now; made if need be, and told what is wanted by now."""
        self._subscriptions.follow(self._broker.image, self._broker.config)
        self._sweep(now)
        client = self._clients.pop(id, None)
        if client is None:
            while len(self._clients) >= TELEMETRY_CLIENTS_MAX:
                self._forget(next(iter(self._clients)))
            client = TelemetryClient(id, facts_of(id, header))
        self._clients[id] = client
        client.heard_at = now
        if client.version != self._subscriptions.version:
            client.tell(self._subscriptions.wanted_of(client.facts), version=self._subscriptions.version)
        return client

    def _sweep(self, now: float) -> None:
        if now - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = now
            for id in [id for id, client in self._clients.items() if client.has_gone(now)]:
                self._forget(id)

    def _forget(self, id: bytes) -> None:
        client = self._clients.pop(id)
        if self._series is not None:
            self._series.forget(client)

    def _families(self) -> Iterator[Family]:
        self._sweep(self._broker.clock.monotonic())
        yield Family(table.TELEMETRY_CLIENTS, [("", len(self._clients))])
        dropped = 0 if self._series is None else self._series.dropped_count
        yield Family(table.TELEMETRY_DROPPED, [("", dropped)])
        if self._series is not None:
            yield from self._series.families()


def _read_push(compression_type: int, metrics: bytes) -> "list[Point]":
    """On a worker thread, which also loads what reads pushes when there is a first one."""
    from penstock.broker.telemetry.otlp import read_push

    return read_push(compression_type, metrics)
