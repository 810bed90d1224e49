"""Envelope (key 58, between brokers): a client's request, passed on to the controller (KIP-590).

Version 0.

Behaviour
    - The request is served as if the client had sent it here; the answer carries the metadata offset behind
      what it did, so that whoever passed it on can wait until it knows that too.
    - It is never passed on again: NOT_CONTROLLER tells the sender to look for another controller; nothing was
      done then.
    - INVALID_REQUEST for a request that is not the controller's to answer, or is none at all.
"""

from typing import TYPE_CHECKING

from penstock.broker.control.channel import LENGTH_BYTES, ControllerMovedError
from penstock.broker.dispatch import awaited_handler
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import DecodeError
from penstock.wire.api_keys import ApiKey, is_served
from penstock.wire.framing import RequestHeader, decode_request, decode_request_header, encode_response
from penstock.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FORWARDED = frozenset(
    {
        ApiKey.CREATE_TOPICS,
        ApiKey.DELETE_TOPICS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.ALTER_CONFIGS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.ELECT_LEADERS,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.UPDATE_FEATURES,
        ApiKey.UNREGISTER_BROKER,
        ApiKey.DECOMMISSION_BROKER,
        ApiKey.JOIN_CLUSTER,
    }
)
"""What only the controller answers."""


async def handle(broker: "Broker", request: EnvelopeRequest, header: RequestHeader) -> EnvelopeResponse:
    """Serve what is inside, if this is the controller."""
    if not broker.controller.is_active:
        return EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
    try:
        inner = decode_request_header(request.request_data)
        if inner.api_key not in FORWARDED or not is_served(inner.api_key, inner.api_version):
            return EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST)
        body = decode_request(inner.api_key, inner.api_version, request.request_data, inner.body_position)
    except DecodeError:
        return EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST)
    caller = inner._replace(
        client_host=request.client_host_address.decode(errors="replace"), is_forwarded=True
    )
    try:
        response = await awaited_handler(ApiKey(inner.api_key))(broker, body, caller)
    except ControllerMovedError:
        return EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
    answer = encode_response(inner.api_key, inner.api_version, inner.correlation_id, response)
    return EnvelopeResponse(response_data=answer[LENGTH_BYTES:], metadata_offset=broker.quorum.applied_offset)
