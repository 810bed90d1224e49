"""One blocking connection to a broker, with the versions that both sides speak agreed on.

``call`` sends one request and waits for its answer. Who wants the next answer on its way while the last one
is being used takes ``send`` and ``receive``: brokers answer in the order in which they were asked. A deadline
covers a whole answer, however slowly its bytes come; after any failure the connection is closed, since the
next answer on it could belong to anything.
"""

import itertools
import socket
import struct
import time
from collections import deque
from typing import Any, NamedTuple, Self

from penstock.model.errors import DecodeError, InvariantError
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import decode_response, encode_request
from penstock.wire.messages.api_versions import ApiVersionsRequest
from penstock.wire.schema import Struct
from penstock.wire_client.errors import (
    BrokenConnectionError,
    NotServedError,
    UnreachableError,
    WireClientError,
    check,
)

CLIENT_ID = "penstock-cli"
CONNECT_SECONDS_MAX = 3.0
ANSWER_SECONDS_MAX = 15.0
ANSWER_BYTES_MAX = 256 * 1024 * 1024
"""More than any answer to an administrator; a larger length is somebody else's protocol."""

_LENGTH = struct.Struct(">i")
_HANDSHAKE_VERSION = 0
"""Of ApiVersions: the one version that every broker answers without an error."""


class Address(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class VersionRange(NamedTuple):
    """The versions of one API that both sides speak, both ends included."""

    lowest: int
    highest: int


class _Asked(NamedTuple):
    """A request whose answer is still to come."""

    api: ApiKey
    version: int
    correlation_id: int


class Connection:
    """A socket to one broker; use it in a ``with`` statement or ``close`` it."""

    def __init__(
        self,
        address: Address,
        *,
        client_id: str = CLIENT_ID,
        connect_seconds_max: float = CONNECT_SECONDS_MAX,
        answer_seconds_max: float = ANSWER_SECONDS_MAX,
    ) -> None:
        self.address = address
        self._client_id = client_id
        self._answer_seconds_max = answer_seconds_max
        self._asked: deque[_Asked] = deque()
        self._is_broken = False
        self._correlation_ids = itertools.count(1)
        try:
            self._socket = socket.create_connection(address, timeout=connect_seconds_max)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UnreachableError(f"No broker answers at {address}: {reason}.") from error
        except UnicodeError as error:  # Before anybody is asked: no name of the network looks like this.
            raise UnreachableError(f"No broker answers at {address}: there is no such name.") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._versions = self._agree()
        except WireClientError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_closed(self) -> bool:
        """Whether somebody hung up: whoever holds it, or the connection itself after a failure."""
        return self._socket.fileno() < 0

    @property
    def is_broken(self) -> bool:
        """Whether it is closed because of a failure, and not because nobody needed it."""
        return self._is_broken

    def fileno(self) -> int:
        """The socket's number, so that ``select`` can tell when an answer comes."""
        return self._socket.fileno()

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def serves(self, api: ApiKey) -> bool:
        """Whether both sides share a version of ``api``."""
        return api in self._versions

    def version(self, api: ApiKey, *, at_most: int | None = None) -> int:
        """The highest version of ``api`` that both sides speak, not above ``at_most``."""
        shared = self._versions.get(api)
        if shared is None or (at_most is not None and at_most < shared.lowest):
            raise NotServedError(
                f"The broker at {self.address} does not serve {APIS[api].name} in a version known here."
            )
        return shared.highest if at_most is None else min(shared.highest, at_most)

    @property
    def is_owed(self) -> bool:
        """Whether answers are still to come, so that nothing else may be asked with ``call``."""
        return bool(self._asked)

    def call(self, api: ApiKey, message: Struct, *, at_most: int | None = None) -> Any:
        """Send ``message`` in the version that ``version`` tells, and wait for its answer."""
        return self._call(api, self.version(api, at_most=at_most), message)

    def send(self, api: ApiKey, message: Struct, *, at_most: int | None = None) -> None:
        """Send ``message`` as ``call`` does, and leave the answer to ``receive``."""
        self._send(api, self.version(api, at_most=at_most), message)

    def receive(self) -> Any:
        """Wait for the answer to the oldest request that has none."""
        if not self._asked:
            raise InvariantError(f"nothing was asked of the broker at {self.address}")
        api, version, correlation_id = self._asked[0]
        deadline = time.monotonic() + self._answer_seconds_max
        try:
            answer = self._receive_answer(api, version, correlation_id, deadline=deadline)
        except TimeoutError as error:
            raise self._broken(f"did not answer within {self._answer_seconds_max:g} s") from error
        except OSError as error:
            raise self._broken(f"broke the connection: {(error.strerror or str(error)).lower()}") from error
        except DecodeError as error:
            raise self._broken(f"answered {APIS[api].name} with something else: {error}") from error
        self._asked.popleft()
        return answer

    def _agree(self) -> dict[ApiKey, VersionRange]:
        answer = self._call(ApiKey.API_VERSIONS, _HANDSHAKE_VERSION, ApiVersionsRequest())
        check(answer.error_code, doing=f"agree on versions with the broker at {self.address}")
        theirs = {
            entry.api_key: VersionRange(entry.min_version, entry.max_version) for entry in answer.api_keys
        }
        shared = {
            key: VersionRange(
                max(spec.min_version, theirs[key].lowest), min(spec.max_version, theirs[key].highest)
            )
            for key, spec in APIS.items()
            if key in theirs
        }
        return {key: versions for key, versions in shared.items() if versions.lowest <= versions.highest}

    def _call(self, api: ApiKey, version: int, message: Struct) -> Any:
        if self._asked:
            raise InvariantError(f"the broker at {self.address} still owes {len(self._asked)} answers")
        self._send(api, version, message)
        return self.receive()

    def _send(self, api: ApiKey, version: int, message: Struct) -> None:
        correlation_id = next(self._correlation_ids)
        request = encode_request(api, version, correlation_id, message, client_id=self._client_id)
        try:
            self._socket.settimeout(self._answer_seconds_max)
            self._socket.sendall(request)
        except TimeoutError as error:
            raise self._broken(f"did not take a request within {self._answer_seconds_max:g} s") from error
        except OSError as error:
            raise self._broken(f"broke the connection: {(error.strerror or str(error)).lower()}") from error
        self._asked.append(_Asked(api, version, correlation_id))

    def _receive_answer(self, api: ApiKey, version: int, correlation_id: int, *, deadline: float) -> Any:
        (length,) = _LENGTH.unpack(self._receive(_LENGTH.size, deadline))
        if not _LENGTH.size <= length <= ANSWER_BYTES_MAX:
            raise DecodeError(f"an answer of {length} bytes")
        answered_id, answer = decode_response(api, version, self._receive(length, deadline))
        if answered_id != correlation_id:
            raise DecodeError(f"the answer to request {answered_id}, not {correlation_id}")
        return answer

    def _receive(self, size: int, deadline: float) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            received = self._socket.recv_into(view)
            if not received:
                raise ConnectionResetError("closed by the broker")
            view = view[received:]
        return data

    def _broken(self, what: str) -> BrokenConnectionError:
        self.close()
        self._is_broken = True
        self._asked.clear()
        return BrokenConnectionError(f"The broker at {self.address} {what}.")
