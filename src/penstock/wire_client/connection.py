"""One blocking connection to a broker, with the versions that both sides speak agreed on.

``call`` sends one request and waits for its answer. Who wants the next answer on its way while the last one
is being used takes ``send`` and ``receive``: brokers answer in the order in which they were asked. A deadline
covers a whole answer, however slowly its bytes come; after any failure the connection is closed, since the
next answer on it could belong to anything.

With ``security`` bytes go through TLS, and the client logs in before its first question; where a login holds
for some time only, it is renewed on the way, between two requests (KIP-368).
"""

import itertools
import os
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from penstock.model.errors import DecodeError, InvariantError
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import decode_response, encode_request
from penstock.wire.messages.api_versions import ApiVersionsRequest
from penstock.wire.schema import Struct
from penstock.wire_client.errors import (
    BrokenConnectionError,
    HandshakeError,
    NotServedError,
    UnreachableError,
    WireClientError,
    check,
)
from penstock.wire_client.security.security import PLAINTEXT, Security

if TYPE_CHECKING:
    import ssl

CLIENT_ID = "penstock-cli"
CONNECT_SECONDS_MAX = 3.0
ANSWER_SECONDS_MAX = 15.0
ANSWER_BYTES_MAX = 256 * 1024 * 1024
"""More than any answer to an administrator; a larger length is somebody else's protocol."""

_LENGTH = struct.Struct(">i")
_HANDSHAKE_VERSION = 0
"""Of ApiVersions: the one version that every broker answers without an error."""

_NONCE_BYTES = 24
_LIFETIME_USED = 0.85
"""Of the time for which a login holds; Kafka's own clients renew it between this and 0.95."""

_TLS_ALERT = 0x1503
"""What an answer begins with that is TLS saying no, where the length of Kafka's begins."""


def new_nonce() -> str:
    """Something that nobody can guess and that never comes again, in signs that SCRAM takes."""
    return os.urandom(_NONCE_BYTES).hex()


Problem = TypeVar("Problem", bound=WireClientError)


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
        security: Security = PLAINTEXT,
        nonce: Callable[[], str] = new_nonce,
    ) -> None:
        self.address = address
        self._security = security
        self._nonce = nonce
        self._renew_at: float | None = None
        self._versions: dict[ApiKey, VersionRange] = {}
        self._has_answered = False
        self._client_id = client_id
        self._answer_seconds_max = answer_seconds_max
        self._asked: deque[_Asked] = deque()
        self._is_broken = False
        self._correlation_ids = itertools.count(1)
        self._socket: socket.socket = self._dial(connect_seconds_max)
        try:
            if security.protocol.is_encrypted:
                self._socket = self._encrypted()
            self._versions = self._agree()
            self._log_in()
        except BaseException:
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
        """The socket's number, so that ``select`` can tell when an answer comes; TLS keeps some to itself."""
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

    @property
    def wants_pause(self) -> bool:
        """Whether the login is to be renewed, which happens before the next request that finds nothing owed.

        Whoever keeps several requests under way should let them come to an end now and then: otherwise the
        broker ends the connection when the login does.
        """
        return self._renew_at is not None and time.monotonic() >= self._renew_at

    def call(self, api: ApiKey, message: Struct, *, at_most: int | None = None) -> Any:
        """Send ``message`` in the version that ``version`` tells, and wait for its answer."""
        self._renew_login()
        return self._call(api, self.version(api, at_most=at_most), message)

    def send(self, api: ApiKey, message: Struct, *, at_most: int | None = None) -> None:
        """Send ``message`` as ``call`` does, and leave the answer to ``receive``."""
        self._renew_login()
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
            raise self._lost(error) from error
        except DecodeError as error:
            raise self._broken(f"answered {APIS[api].name} with something else: {error}") from error
        self._asked.popleft()
        self._has_answered = self._has_answered or bool(self._versions)
        return answer

    def _dial(self, seconds_max: float) -> socket.socket:
        try:
            made = socket.create_connection(self.address, timeout=seconds_max)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UnreachableError(f"No broker answers at {self.address}: {reason}.") from error
        except UnicodeError as error:  # Before anybody is asked: no name of the network looks like this.
            raise UnreachableError(f"No broker answers at {self.address}: there is no such name.") from error
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def _encrypted(self) -> "ssl.SSLSocket":
        from penstock.wire_client.security.tls import encrypted

        return encrypted(self._socket, self._security, host=self.address.host, address=str(self.address))

    def _log_in(self) -> None:
        """Prove who we are, for the first time or once more."""
        login = self._security.login
        if login is None:
            return
        if not self.serves(ApiKey.SASL_HANDSHAKE):
            raise HandshakeError(
                f"The broker at {self.address} asks for no login, or is too old: use PLAINTEXT or SSL as "
                f"security protocol instead of {self._security.protocol}."
            )
        from penstock.wire_client.security.login import log_in

        began = time.monotonic()
        lifetime_ms = log_in(self._ask, login, nonce=self._nonce(), broker=str(self.address))
        self._renew_at = began + lifetime_ms / 1000 * _LIFETIME_USED if lifetime_ms > 0 else None

    def _renew_login(self) -> None:
        """If it is time; a connection that does not get through with it is of no more use."""
        if not self.wants_pause or self._asked:
            return
        try:
            self._log_in()
        except WireClientError:
            self.close()
            self._is_broken = True
            raise

    def _ask(self, api: ApiKey, message: Struct) -> Any:
        return self._call(api, self.version(api), message)

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
            raise self._lost(error) from error
        self._asked.append(_Asked(api, version, correlation_id))

    def _receive_answer(self, api: ApiKey, version: int, correlation_id: int, *, deadline: float) -> Any:
        (length,) = _LENGTH.unpack(self._receive(_LENGTH.size, deadline))
        if length >> 16 == _TLS_ALERT and not self._has_answered:
            raise self._useless(
                HandshakeError(
                    f"The broker at {self.address} speaks TLS there: use SSL or SASL_SSL as security "
                    "protocol."
                )
            )
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

    def _lost(self, error: OSError) -> WireClientError:
        """Why it broke, and what may be behind that when it did so at once."""
        if self._security.protocol.is_encrypted:
            import ssl

            if isinstance(error, ssl.SSLError):
                from penstock.wire_client.security.tls import explained

                return self._useless(explained(error, host=self.address.host, address=str(self.address)))
        reason = (error.strerror or str(error)).lower()
        return self._broken(f"broke the connection: {reason}{self._suspicion(error)}")

    def _suspicion(self, error: OSError) -> str:
        """Brokers hang up without a word on whoever does not come as their listener wants it."""
        if self._has_answered or not isinstance(error, ConnectionError):
            return ""
        if not self._versions and not self._security.protocol.is_encrypted:
            return "; brokers that speak TLS do so with who does not (see kafka.security.protocol)"
        if not self._versions and self._security.certificate is None:
            return "; brokers that want a client's certificate do so with who has none"
        if self._versions and self.serves(ApiKey.SASL_HANDSHAKE) and self._security.login is None:
            return "; brokers that want a login do so with who has none (see kafka.security.protocol)"
        return ""

    def _broken(self, what: str) -> BrokenConnectionError:
        return self._useless(BrokenConnectionError(f"The broker at {self.address} {what}."))

    def _useless(self, error: Problem) -> Problem:
        """Hang up, since the next answer could belong to anything."""
        self.close()
        self._is_broken = True
        self._asked.clear()
        return error
