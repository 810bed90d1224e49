"""Envelope (key 58): a client's request, passed on by a broker to the controller. Flexible from the start."""

from penstock.wire.primitives import BYTES, INT16
from penstock.wire.schema import Struct, field, nullable


class EnvelopeRequest(Struct):
    """A request with its header as the client sent it, and who the client was."""

    request_data: bytes = field(BYTES)
    request_principal: bytes | None = nullable(BYTES)
    client_host_address: bytes = field(BYTES)


class EnvelopeResponse(Struct):
    """The answer with its header, for the broker to hand on."""

    response_data: bytes | None = nullable(BYTES)
    error_code: int = field(INT16)
