"""Stands between a broker's connections and its dispatch: notes what clients ask, and carries out faults.

Requests of other brokers pass untouched. So does, but for the noting, every request that no fault strikes.
"""

import asyncio
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from penstock.broker.connection import Requests
from penstock.broker.outbox import Part
from penstock.broker.reply import Reply
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import DecodeError
from penstock.testing.error_answers import entries_field, error_answer
from penstock.testing.fault import Delay, Drop, Fail, Fault
from penstock.testing.faults import Faults
from penstock.testing.request_log import Request, RequestLog
from penstock.testing.request_topics import NameOf, divide, topics_of
from penstock.testing.tapped_reply import TappedReply, joined
from penstock.wire.api_keys import APIS, ApiKey, ApiSpec, is_served
from penstock.wire.framing import (
    RequestHeader,
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from penstock.wire.messages.metadata import MetadataRequest, MetadataResponse
from penstock.wire.messages.produce import ProduceRequest
from penstock.wire.schema import Struct, replace

PEER_CLIENT_ID = "penstock-broker"
LENGTH_BYTES = 4
NO_ACKS = 0


class Interceptor:
    """Serves requests for the connections by handing most of them on."""

    def __init__(
        self,
        inner: Requests,
        *,
        faults: tuple[Faults, ...],
        logs: tuple[RequestLog, ...],
        silence: "Silence",
        name_of: NameOf,
    ) -> None:
        self._inner = inner
        self._faults = faults
        self._logs = logs
        self._silence = silence
        self._name_of = name_of

    def serve(self, header: RequestHeader, frame: bytearray, reply: Reply) -> None:
        """Serve one request, unless it meets a fault."""
        if self._silence.is_kept and header.client_id != PEER_CLIENT_ID:
            self._silence.hold(lambda: self.serve(header, frame, reply))
            return
        if header.client_id == PEER_CLIENT_ID or not is_served(header.api_key, header.api_version):
            self._inner.serve(header, frame, reply)
            return
        spec = APIS[ApiKey(header.api_key)]
        try:
            message: Struct = decode_request(header.api_key, header.api_version, frame, header.body_position)
        except DecodeError:
            self._inner.serve(header, frame, reply)  # which says what is wrong with it
            return
        request = Request(
            api=spec.name,
            version=header.api_version,
            client_id=header.client_id or "",
            topics=topics_of(message, self._name_of),
        )
        fault = next((found for faults in self._faults if (found := faults.strike(request))), None)
        for log in self._logs:
            log.note(_noted(request, fault))
        reply = TappedReply(reply, partial(self._silence.send, reply))
        if fault is None:
            self._inner.serve(header, frame, reply)
        else:
            self._carry_out(fault, _Call(spec=spec, header=header, frame=frame, message=message, reply=reply))

    def _carry_out(self, fault: Fault, call: "_Call") -> None:
        match fault.effect:
            case Drop(is_carried_out=False):
                call.reply.close_connection("dropped by a test")
            case Drop():
                self._serve_tapped(call, lambda parts: call.reply.close_connection("dropped by a test"))
            case Delay(seconds=seconds):
                loop = asyncio.get_running_loop()
                self._serve_tapped(call, lambda parts: _send_later(loop, seconds, call.reply, parts))
            case Fail(error=error):
                self._fail(fault, error, call)

    def _serve_tapped(self, call: "_Call", on_send: Callable[[list[Part]], None]) -> None:
        self._inner.serve(call.header, call.frame, TappedReply(call.reply, on_send))

    def _fail(self, fault: Fault, error: ErrorCode, call: "_Call") -> None:
        if isinstance(call.message, ProduceRequest) and call.message.acks == NO_ACKS:
            call.reply.close_connection("failed by a test, and the client wants no answer")
            return
        if isinstance(call.message, MetadataRequest) and (
            error is not ErrorCode.REBOOTSTRAP_REQUIRED or call.header.api_version < 13
        ):
            self._spoil_metadata(fault, error, call)
            return
        entries = entries_field(call.spec, call.header.api_version, error)
        failing, rest = call.message, None
        if fault.target.topic is not None and entries is not None:
            failing, rest = divide(call.message, entries[0], fault.target.topic, self._name_of)
        answer = error_answer(call.spec, call.header.api_version, failing, error)
        if answer is None:
            call.reply.close_connection(f"failed by a test; this version cannot tell {error.name}")
        elif rest is None or entries is None:
            call.reply.send([call.encode(answer)])
        else:
            self._serve_rest(call, rest, answer, entries[1])

    def _serve_rest(self, call: "_Call", rest: Struct, failed: Struct, field: str) -> None:
        """Carry the rest of a request out, and answer both parts together, without waiting for news."""
        if call.spec.key is ApiKey.FETCH:
            rest = replace(rest, max_wait_ms=0, session_id=0, session_epoch=-1)

        def answer(parts: list[Part]) -> None:
            served = call.decode(parts)
            both = replace(served, **{field: getattr(served, field) + getattr(failed, field)})
            call.reply.send([call.encode(both)])

        self._serve_tapped(call.asking(rest), answer)

    def _spoil_metadata(self, fault: Fault, error: ErrorCode, call: "_Call") -> None:
        """Clients need the brokers that the answer names: carry it out, and spoil only its topics."""

        def answer(parts: list[Part]) -> None:
            served = call.decode(parts)
            assert isinstance(served, MetadataResponse)
            topics = tuple(
                replace(topic, error_code=int(error), partitions=())
                if fault.target.topic in (None, topic.name)
                else topic
                for topic in served.topics
            )
            call.reply.send([call.encode(replace(served, topics=topics))])

        self._serve_tapped(call.asking(replace(call.message, allow_auto_topic_creation=False)), answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A request on its way, and where its answer goes."""

    spec: ApiSpec
    header: RequestHeader
    frame: bytearray
    message: Struct
    reply: Reply

    def encode(self, answer: Struct) -> bytes:
        return encode_response(self.spec.key, self.header.api_version, self.header.correlation_id, answer)

    def decode(self, parts: list[Part]) -> Struct:
        _, answer = decode_response(self.spec.key, self.header.api_version, joined(parts)[LENGTH_BYTES:])
        assert isinstance(answer, Struct)
        return answer

    def asking(self, message: Struct) -> "_Call":
        """The same with another message in it."""
        header = self.header
        encoded = encode_request(
            header.api_key, header.api_version, header.correlation_id, message, client_id=header.client_id
        )
        frame = bytearray(encoded[LENGTH_BYTES:])
        return _Call(
            spec=self.spec,
            header=decode_request_header(frame),
            frame=frame,
            message=message,
            reply=self.reply,
        )


def _noted(request: Request, fault: Fault | None) -> Request:
    return request if fault is None else dataclasses.replace(request, fault=fault.effect.name)


def _send_later(loop: asyncio.AbstractEventLoop, seconds: float, reply: Reply, parts: list[Part]) -> None:
    def send() -> None:
        if not reply.is_abandoned:
            reply.send(parts)

    loop.call_later(seconds, send)


class Silence:
    """While it is kept, nothing of clients gets through: neither what they ask nor what they are answered.

    What is held is bounded by what connections let clients have under way.
    """

    def __init__(self) -> None:
        self.is_kept = False
        self._held: list[Callable[[], None]] = []

    def hold(self, action: Callable[[], None]) -> None:
        """Put something off until the end."""
        self._held.append(action)

    def send(self, reply: Reply, parts: list[Part]) -> None:
        """Let an answer leave, now or at the end."""
        if self.is_kept:
            self.hold(lambda: self.send(reply, parts))
        elif not reply.is_abandoned:
            reply.send(parts)

    def end(self) -> None:
        """Let everything through that was held, in order."""
        self.is_kept = False
        held, self._held = self._held, []
        for action in held:
            action()
