"""Finds the active controller, wherever it is, and asks it.

The active controller is the leader of the quorum. There may be none for a while, it may be this broker, and
it may move at any moment: so every question is asked until somebody answers who is in office, or the time is
up. What is asked here may come twice, since an answer that is lost looks like a question that was: all of it
is made so that the second time does no harm.

Requests of clients are another matter. They are passed on in an envelope and never twice, and answered when
what they changed is known here too: a client that made a topic by way of this broker can use it here.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.broker.dispatch import awaited_handler
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peer_error import PeerError
from penstock.metadata.image import ClusterImage
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, OperatingError
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import RequestHeader, decode_response, encode_request, header_for
from penstock.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from penstock.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

R = TypeVar("R")

FORWARD_SECONDS_MAX = 15.0
"""How long a client's request waits for a controller; clients give a request about half a minute."""

FOLLOW_SECONDS_MAX = 15.0
"""How long an answer waits for this broker to do what was decided. It is decided whether we wait or not."""

IDS_SECONDS_MAX = 5.0
RETRY_SECONDS = 0.05
LENGTH_BYTES = 4

_KEYS: dict[str, ApiKey] = {f"{spec.name}Request": spec.key for spec in APIS.values()}


class ControllerMovedError(OperatingError):
    """A request was passed on to us, and we are no longer in office: whoever passed it on tries elsewhere."""


class ControllerChannel:
    """The way to the active controller."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._moved = asyncio.Event()

    def leadership_changed(self) -> None:
        """Somebody else may be in office: whoever waits for that looks again."""
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def ask(self, request: Struct, *, seconds_max: float, lane: Lane = Lane.CONTROL) -> Any:
        """The active controller's answer, of a request that may be repeated.

        Raises NOT_CONTROLLER when nobody was in office within the time, or ``PeerError`` when whoever was
        did not answer.
        """
        deadline = self._broker.clock.monotonic() + seconds_max
        while True:
            trouble: ApiError | PeerError
            try:
                response = await self._ask_once(request, seconds_max=self._left(deadline), lane=lane)
                if response is not None and response.error_code != ErrorCode.NOT_CONTROLLER:
                    return response
                trouble = _nobody_in_office()
            except PeerError as error:
                trouble = error
            await self._pause(deadline, trouble)

    async def allocate_producer_ids(self) -> range:
        """A block of producer ids for this broker."""
        request = AllocateProducerIdsRequest(
            broker_id=self._broker.node_id, broker_epoch=self._broker.membership.epoch
        )
        try:
            response: AllocateProducerIdsResponse = await self.ask(request, seconds_max=IDS_SECONDS_MAX)
        except PeerError as error:
            raise ApiError(ErrorCode.NOT_CONTROLLER, str(error)) from error
        if response.error_code != ErrorCode.NONE:
            raise ApiError(ErrorCode(response.error_code), "The controller gives out no producer ids.")
        return range(response.producer_id_start, response.producer_id_start + response.producer_id_len)

    async def decide_or_forward(
        self, request: Struct, header: RequestHeader, decide: Callable[[ClusterImage], Result[R]]
    ) -> R:
        """Have a client's request decided here if we are in office, else where the controller is."""
        return await self.decide_or_forward_at(request, header, lambda image, offset: decide(image))

    async def decide_or_forward_at(
        self, request: Struct, header: RequestHeader, decide: Callable[[ClusterImage, int], Result[R]]
    ) -> R:
        """As ``decide_or_forward``; the decision is also told where its records will begin."""

        async def answer() -> R:
            response = await self._broker.quorum.submit_at(decide)
            await self.wait_followed(self._broker.quorum.applied_offset)
            return response

        return await self.answer_or_forward(request, header, answer)

    async def answer_or_forward(
        self, request: Struct, header: RequestHeader, answer: Callable[[], Awaitable[R]]
    ) -> R:
        """Answer a client's request that only the controller can, or have it answered."""
        deadline = self._broker.clock.monotonic() + FORWARD_SECONDS_MAX
        while True:
            try:
                if self._broker.quorum.is_leader:
                    return await answer()
                if header.is_forwarded:
                    raise ControllerMovedError("this broker is not the active controller")
                response = await self._forward(request, header, seconds_max=self._left(deadline))
                if response is not None:
                    return response  # type: ignore[no-any-return]  # as the API's own table has it
            except ApiError as error:
                if error.code is not ErrorCode.NOT_CONTROLLER:
                    raise
            await self._pause(deadline, _nobody_in_office())

    async def wait_followed(self, offset: int) -> None:
        """Return when everything below ``offset`` of the metadata log is in force on this broker."""
        seconds_max = FOLLOW_SECONDS_MAX
        if not await self._broker.quorum.wait_applied(offset, seconds_max=seconds_max) or not (
            await self._broker.follower.wait(offset, seconds_max=seconds_max)
        ):
            logger.warning("answered before the change is in force here", extra={"offset": offset})

    async def _ask_once(self, request: Struct, *, seconds_max: float, lane: Lane) -> Any | None:
        leader = self._broker.quorum.leader_id
        if leader is None:
            return None
        key = _KEYS[type(request).__name__]
        if leader == self._broker.node_id:
            return await awaited_handler(key)(self._broker, request, header_for(key))
        version = APIS[key].max_version
        return await self._broker.peers.ask(leader, request, version, seconds_max=seconds_max, lane=lane)

    async def _forward(self, request: Struct, header: RequestHeader, *, seconds_max: float) -> Any | None:
        """The controller's answer; None when nobody is known to be in office, or is there to take it."""
        leader = self._broker.quorum.leader_id
        if leader is None or leader == self._broker.node_id:
            return None
        envelope = _envelope(request, header)
        try:
            answer: EnvelopeResponse = await self._broker.peers.ask(
                leader, envelope, APIS[ApiKey.ENVELOPE].max_version, seconds_max=seconds_max
            )
        except PeerError as error:
            if error.was_sent:
                raise ApiError(
                    ErrorCode.REQUEST_TIMED_OUT, "The controller did not answer; it may have done it."
                ) from error
            return None
        if answer.error_code != ErrorCode.NONE or answer.response_data is None:
            raise ApiError(ErrorCode(answer.error_code))
        await self.wait_followed(answer.metadata_offset)
        return decode_response(header.api_key, header.api_version, answer.response_data)[1]

    def _left(self, deadline: float) -> float:
        return max(RETRY_SECONDS, deadline - self._broker.clock.monotonic())

    async def _pause(self, deadline: float, trouble: ApiError | PeerError) -> None:
        """Wait until somebody else is in office, or a moment; raises ``trouble`` when the time is up."""
        if self._broker.clock.monotonic() + RETRY_SECONDS >= deadline:
            raise trouble
        with suppress(TimeoutError):
            async with asyncio.timeout(RETRY_SECONDS):
                await self._moved.wait()


def _envelope(request: Struct, header: RequestHeader) -> EnvelopeRequest:
    frame = encode_request(
        header.api_key, header.api_version, header.correlation_id, request, client_id=header.client_id
    )
    return EnvelopeRequest(request_data=frame[LENGTH_BYTES:], client_host_address=header.client_host.encode())


def _nobody_in_office() -> ApiError:
    return ApiError(ErrorCode.NOT_CONTROLLER, "There is no active controller at the moment.")
