"""A connection to a broker that knows which versions both sides speak.

Blocking calls for setting up; the load itself takes the socket and goes its own way.
"""

import itertools
import socket
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from penstock.bench.errors import BenchError, check
from penstock.model.errors import UsageError
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import decode_response, encode_request
from penstock.wire.messages.api_versions import ApiVersionsRequest
from penstock.wire.schema import Struct

CLIENT_ID = "penstock-bench"
_CONNECT_SECONDS_MAX = 5.0
_ANSWER_SECONDS_MAX = 60.0
_LENGTH = struct.Struct(">i")
_HANDSHAKE_VERSION = 0
"""Of ApiVersions: the one version that every broker answers without an error."""


class Address(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """The first address of a ``--bootstrap-server`` list."""
    host, separator, port = text.split(",")[0].strip().rpartition(":")
    if not separator or not host or not port.isdecimal():
        raise UsageError(f"--bootstrap-server {text!r} is not of the form HOST:PORT.")
    return Address(host.strip("[]"), int(port))


class Connection:
    """One socket, with the versions agreed on."""

    def __init__(self, address: Address) -> None:
        self.address = address
        try:
            self.socket = socket.create_connection(address, timeout=_CONNECT_SECONDS_MAX)
        except OSError as error:
            raise BenchError(f"No broker answers at {address}: {error.strerror or error}.") from error
        self.socket.settimeout(_ANSWER_SECONDS_MAX)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_ids = itertools.count(1)
        self.versions = self._agree()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    def version(self, api: ApiKey) -> int:
        """The highest version of ``api`` that both sides speak."""
        if api not in self.versions:
            raise BenchError(
                f"The broker at {self.address} and this benchmark share no version of {api.name}."
            )
        return self.versions[api]

    def call(self, api: ApiKey, message: Struct) -> Any:
        """Send ``message`` and wait for its answer."""
        return self._call(api, self.version(api), message)

    def send(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of ``data``."""
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise self._lost(error) from error

    def receive_frame(self) -> bytearray:
        """The next answer, without its length."""
        (length,) = _LENGTH.unpack(self._receive_exactly(_LENGTH.size))
        return self._receive_exactly(length)

    def _agree(self) -> Mapping[ApiKey, int]:
        answer = self._call(ApiKey.API_VERSIONS, _HANDSHAKE_VERSION, ApiVersionsRequest())
        check(answer.error_code, doing="say which versions it speaks")
        theirs = {entry.api_key: entry for entry in answer.api_keys}
        return {
            key: min(spec.max_version, theirs[key].max_version)
            for key, spec in APIS.items()
            if key in theirs
            and spec.min_version <= theirs[key].max_version
            and theirs[key].min_version <= spec.max_version
        }

    def _call(self, api: ApiKey, version: int, message: Struct) -> Any:
        correlation_id = next(self._correlation_ids)
        self.send(encode_request(api, version, correlation_id, message, client_id=CLIENT_ID))
        answered_id, answer = decode_response(api, version, self.receive_frame())
        if answered_id != correlation_id:
            raise BenchError(f"The answer to request {correlation_id} came as {answered_id}.")
        return answer

    def _receive_exactly(self, size: int) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        filled = 0
        while filled < size:
            try:
                received = self.socket.recv_into(view[filled:])
            except OSError as error:
                raise self._lost(error) from error
            if not received:
                raise BenchError(f"The broker at {self.address} closed the connection.")
            filled += received
        return data

    def _lost(self, error: OSError) -> BenchError:
        return BenchError(f"The connection to the broker at {self.address} broke: {error.strerror or error}.")
