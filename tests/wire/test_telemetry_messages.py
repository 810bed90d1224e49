"""The messages of KIP-714 against bytes put together by hand; no other implementation here reads them."""

import pytest

from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import decode_request, decode_request_header, decode_response, encode_response
from penstock.wire.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from penstock.wire.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from penstock.wire.schema import Struct

ID = bytes(range(16))
HEADER_START = "{key:04x}" + "0000" + "00000007" + "0001" + "63" + "00"
"""Key, version 0, correlation id, client "c", no tags."""

REQUESTS = [
    (
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
        GetTelemetrySubscriptionsRequest(client_instance_id=ID),
        ID.hex() + "00",
    ),
    (
        ApiKey.PUSH_TELEMETRY,
        PushTelemetryRequest(
            client_instance_id=ID,
            subscription_id=-2,
            terminating=True,
            compression_type=4,
            metrics=b"\x0a\x00",
        ),
        ID.hex() + "fffffffe" + "01" + "04" + "03" + "0a00" + "00",
    ),
]
RESPONSES = [
    (
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
        GetTelemetrySubscriptionsResponse(
            error_code=89,
            client_instance_id=ID,
            subscription_id=-2,
            accepted_compression_types=(4, 3),
            push_interval_ms=1000,
            telemetry_max_bytes=1024,
            delta_temporality=True,
            requested_metrics=("*", "ab"),
        ),
        "00000000" + "0059" + ID.hex() + "fffffffe" + "030403" + "000003e8" + "00000400" + "01"
        "03" + "022a" + "036162" + "00",
    ),
    (ApiKey.PUSH_TELEMETRY, PushTelemetryResponse(error_code=117), "00000000" + "0075" + "00"),
]


@pytest.mark.parametrize(("key", "request_", "body"), REQUESTS)
def test_request_is_read(key: ApiKey, request_: Struct, body: str) -> None:
    frame = bytes.fromhex(HEADER_START.format(key=key) + body)
    header = decode_request_header(frame)
    assert header.client_id == "c"
    assert decode_request(key, 0, frame, header.body_position) == request_


@pytest.mark.parametrize(("key", "response", "body"), RESPONSES)
def test_response_is_written(key: ApiKey, response: Struct, body: str) -> None:
    frame = bytes.fromhex("00000007" + "00" + body)
    assert bytes(encode_response(key, 0, 7, response))[4:] == frame
    assert decode_response(key, 0, frame)[1] == response
