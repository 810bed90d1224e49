"""From a frame to a message and back: headers, and the functions a connection calls.

A *frame* is what follows the four bytes of length on the wire; whoever reads the socket has taken those off.
What is written here has them in front.

Header rules: requests and responses of flexible versions have a tagged section in their header, except that
responses to ApiVersions never do; the client id has a two-byte length in every header.
"""

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.model.connected_client import ConnectedClient
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import DecodeError, InvariantError, UsageError
from penstock.model.limits import ARRAY_ELEMENTS_MAX, RESPONSE_ELEMENTS_MAX
from penstock.wire.api_keys import APIS, ApiKey, ApiSpec, known_api
from penstock.wire.compiler import decoder_for, encoder_for
from penstock.wire.decoder_source import Decoder
from penstock.wire.encoder_source import Encoder
from penstock.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from penstock.wire.primitives import RecordsPayload, check_tag_count, read_uvarint, skip_tags
from penstock.wire.schema import Struct

Frame = bytes | bytearray | memoryview

_REQUEST_START = struct.Struct(">hhi")
_CLIENT_ID_LENGTH = struct.Struct(">h")
_FRAME_LENGTH = struct.Struct(">i")
_RESPONSE_START = struct.Struct(">ii")
_RESPONSE_START_FLEXIBLE = struct.Struct(">iib")
_CORRELATION_ID = struct.Struct(">i")


def _tell_nobody(callback: Callable[[], None]) -> None:
    """There is no connection whose end could be told."""


class RequestHeader(NamedTuple):
    """What precedes every request. ``body_position`` is where its body begins in the frame.

    For an API or version we do not know nothing beyond the correlation id is read: ``client_id`` is then null
    and ``body_position`` means nothing. The last four are not part of it: whoever holds the connection may
    note there where the request came from, how to be told of the connection's end, that another broker has
    passed it on, and who is connected.
    """

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body_position: int
    client_host: str = ""
    when_connection_is_lost: Callable[[Callable[[], None]], None] = _tell_nobody
    is_forwarded: bool = False
    client: ConnectedClient | None = None


def header_for(key: ApiKey, caller: RequestHeader | None = None) -> RequestHeader:
    """The header of a request that this process makes for itself, or on behalf of a caller."""
    version = APIS[key].max_version
    if caller is None:
        return RequestHeader(key, version, 0, None, 0)
    return caller._replace(api_key=key, api_version=version, body_position=0)


def decode_request_header(frame: Frame) -> RequestHeader:
    """Read the header of a request; a known version of a known API is not promised to be served."""
    try:
        api_key, version, correlation_id = _REQUEST_START.unpack_from(frame)
        spec = known_api(api_key)
        if spec is None or not spec.speaks(version):
            return RequestHeader(api_key, version, correlation_id, None, _REQUEST_START.size)
        client_id, position = _read_client_id(frame)
        if version >= spec.first_flexible:
            position = _skip_header_tags(memoryview(frame), position)
        return RequestHeader(api_key, version, correlation_id, client_id, position)
    except (struct.error, IndexError) as error:
        raise DecodeError(f"request of {len(frame)} bytes is too short for its header") from error
    except UnicodeDecodeError as error:
        raise DecodeError("client id is not UTF-8") from error


def _read_client_id(frame: Frame) -> tuple[str | None, int]:
    (length,) = _CLIENT_ID_LENGTH.unpack_from(frame, 8)
    if length == -1:
        return None, 10
    if length < 0 or 10 + length > len(frame):
        raise DecodeError(f"client id: length {length} with {len(frame) - 10} bytes remaining")
    return str(frame[10 : 10 + length], "utf-8"), 10 + length


def _skip_header_tags(view: memoryview, position: int) -> int:
    if not view[position]:
        return position + 1
    count, position = read_uvarint(view, position)
    check_tag_count(count, ARRAY_ELEMENTS_MAX)
    return skip_tags(view, position, count)


def is_unknown_api_versions(header: RequestHeader) -> bool:
    """Whether this is ApiVersions at a version we do not know.

    It is answered by ``encode_unknown_api_versions``, its body unread; a request of any other API that is not
    served is answered by closing the connection.
    """
    spec = known_api(ApiKey.API_VERSIONS)
    return header.api_key == ApiKey.API_VERSIONS and spec is not None and not spec.speaks(header.api_version)


def encode_unknown_api_versions(correlation_id: int) -> bytes:
    """The answer to ApiVersions at an unknown version: version 0, naming the versions we know (KIP-511)."""
    spec = _spec(ApiKey.API_VERSIONS, 0)
    known = ApiVersion(api_key=int(spec.key), min_version=spec.min_version, max_version=spec.max_version)
    answer = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=(known,))
    return encode_response(ApiKey.API_VERSIONS, 0, correlation_id, answer)


def decode_request(api_key: int, version: int, frame: Frame, position: int) -> Any:
    """Read the body of a request, of the class that the table names for its API."""
    decode = _REQUEST_DECODERS.get((api_key, version)) or _request_decoder(api_key, version)
    return decode(memoryview(frame), position, ARRAY_ELEMENTS_MAX)


def encode_response_parts(
    api_key: int, version: int, correlation_id: int, message: Struct
) -> list[bytearray | RecordsPayload]:
    """A response as what to send in order: bytes of ours, and by turns the record payloads of ``message``."""
    encode, is_flexible = _RESPONSE_ENCODERS.get((api_key, version)) or _response_encoder(api_key, version)
    start = (
        _RESPONSE_START_FLEXIBLE.pack(0, correlation_id, 0)
        if is_flexible
        else _RESPONSE_START.pack(0, correlation_id)
    )
    return _finish_frame(encode, message, bytearray(start))


def encode_response(api_key: int, version: int, correlation_id: int, message: Struct) -> bytes:
    """A response in one piece; its records, if any, must be bytes in memory."""
    return _join(encode_response_parts(api_key, version, correlation_id, message))


def encode_request(
    api_key: int, version: int, correlation_id: int, message: Struct, *, client_id: str | None = None
) -> bytes:
    """A request in one piece, as a client sends it."""
    spec = _spec(api_key, version)
    flexible = spec.is_flexible(version)
    name = None if client_id is None else client_id.encode()
    start = bytearray(4) + _REQUEST_START.pack(api_key, version, correlation_id)
    start += _CLIENT_ID_LENGTH.pack(-1 if name is None else len(name)) + (name or b"")
    if flexible:
        start.append(0)
    return _join(_finish_frame(encoder_for(spec.request, version, flexible), message, start))


def decode_response(api_key: int, version: int, frame: Frame) -> tuple[int, Any]:
    """Read a response, as a client does: its correlation id and its message."""
    spec = _spec(api_key, version)
    view = memoryview(frame)
    try:
        (correlation_id,) = _CORRELATION_ID.unpack_from(view)
        position = _skip_header_tags(view, 4) if spec.has_flexible_response_header(version) else 4
    except (struct.error, IndexError) as error:
        raise DecodeError(f"response of {len(view)} bytes is too short for its header") from error
    decode = decoder_for(spec.response, version, spec.is_flexible(version))
    return correlation_id, decode(view, position, RESPONSE_ELEMENTS_MAX)


def _finish_frame(encode: Encoder, message: Struct, start: bytearray) -> list[bytearray | RecordsPayload]:
    parts: list[Any] = [start]
    size = encode(message, parts) + sum(map(len, parts[::2])) - 4
    _FRAME_LENGTH.pack_into(start, 0, size)
    if not parts[-1]:
        parts.pop()
    return parts


def _join(parts: list[bytearray | RecordsPayload]) -> bytes:
    if len(parts) == 1 and isinstance(parts[0], bytearray):
        return bytes(parts[0])
    pieces = [part for part in parts if isinstance(part, bytes | bytearray | memoryview)]
    if len(pieces) != len(parts):
        raise InvariantError("records that are not in memory cannot be part of a message in one piece")
    return b"".join(pieces)


_REQUEST_DECODERS: dict[tuple[int, int], Decoder] = {}
_RESPONSE_ENCODERS: dict[tuple[int, int], tuple[Encoder, bool]] = {}


def _request_decoder(api_key: int, version: int) -> Decoder:
    spec = known_api(api_key)
    if spec is None or not spec.speaks(version):
        raise DecodeError(f"version {version} of API {api_key} is not known")
    decoder = decoder_for(spec.request, version, spec.is_flexible(version))
    _REQUEST_DECODERS[api_key, version] = decoder
    return decoder


def _response_encoder(api_key: int, version: int) -> tuple[Encoder, bool]:
    spec = _spec(api_key, version)
    encoder = encoder_for(spec.response, version, spec.is_flexible(version))
    entry = _RESPONSE_ENCODERS[api_key, version] = encoder, spec.has_flexible_response_header(version)
    return entry


def _spec(api_key: int, version: int) -> ApiSpec:
    spec = known_api(api_key)
    if spec is None or not spec.speaks(version):
        raise UsageError(f"version {version} of API {api_key} is not known")
    return spec
