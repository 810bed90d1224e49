"""Envelope (key 58): a client's request, passed on by a broker to the controller. Flexible from the start."""

from penstock.wire.primitives import BYTES, INT16, INT64
from penstock.wire.schema import Struct, field, nullable

METADATA_OFFSET_TAG = 10_000
"""Ours, far above Kafka's own tags; whoever does not know it skips it."""

UNKNOWN_OFFSET = -1


class EnvelopeRequest(Struct):
    """A request with its header as the client sent it, and who the client was."""

    request_data: bytes = field(BYTES)
    request_principal: bytes | None = nullable(BYTES)
    client_host_address: bytes = field(BYTES)


class EnvelopeResponse(Struct):
    """The answer with its header, for the broker to hand on."""

    response_data: bytes | None = nullable(BYTES)
    error_code: int = field(INT16)
    #: Whoever has the metadata up to here sees what the request did.
    metadata_offset: int = field(INT64, default=UNKNOWN_OFFSET, tag=METADATA_OFFSET_TAG)
