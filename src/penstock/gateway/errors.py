"""Every error of every part as one JSON shape: ``{"error_code": 40401, "message": "...", "error": "..."}``.

The first two fields are those of Confluent's services, whose clients read them; ``error`` is Kafka's name of
what happened, if Kafka had a say in it.
"""

import json
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from penstock.client.errors import (
    AlreadyExists,
    AuthenticationFailed,
    AuthorizationFailed,
    BrokerUnavailable,
    BufferFull,
    ConfigurationError,
    PenstockClientError,
    RecordRefused,
    RequestTimedOut,
    SerializationError,
    UnknownTopic,
)
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, PenstockError, UsageError
from penstock.wire_client.errors import NotServedError, RefusedError, WireClientError, code_name

RETRY_AFTER_SECONDS = 1

_KAFKA_ERROR = 50002
_UNREACHABLE = 50003
_STATUS_OF_CLIENT_ERROR: Mapping[type[PenstockClientError], int] = {
    UnknownTopic: 404,
    AlreadyExists: 409,
    AuthenticationFailed: 502,
    AuthorizationFailed: 403,
    BrokerUnavailable: 503,
    BufferFull: 503,
    RequestTimedOut: 504,
    ConfigurationError: 422,
    SerializationError: 422,
    RecordRefused: 422,
}
_STATUS_OF_CODE: Mapping[int, int] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: 404,
    ErrorCode.UNKNOWN_TOPIC_ID: 404,
    ErrorCode.GROUP_ID_NOT_FOUND: 404,
    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: 404,
    ErrorCode.RESOURCE_NOT_FOUND: 404,
    ErrorCode.TOPIC_ALREADY_EXISTS: 409,
    ErrorCode.NON_EMPTY_GROUP: 409,
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC: 409,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: 403,
    ErrorCode.GROUP_AUTHORIZATION_FAILED: 403,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: 403,
    ErrorCode.OFFSET_OUT_OF_RANGE: 416,
    ErrorCode.INVALID_TOPIC_EXCEPTION: 422,
    ErrorCode.INVALID_PARTITIONS: 422,
    ErrorCode.INVALID_REPLICATION_FACTOR: 422,
    ErrorCode.INVALID_REPLICA_ASSIGNMENT: 422,
    ErrorCode.INVALID_CONFIG: 422,
    ErrorCode.INVALID_REQUEST: 422,
    ErrorCode.INVALID_RECORD: 422,
    ErrorCode.INVALID_TIMESTAMP: 422,
    ErrorCode.POLICY_VIOLATION: 422,
    ErrorCode.MESSAGE_TOO_LARGE: 422,
    ErrorCode.RECORD_LIST_TOO_LARGE: 422,
    ErrorCode.REQUEST_TIMED_OUT: 504,
    ErrorCode.LEADER_NOT_AVAILABLE: 503,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: 503,
    ErrorCode.NOT_CONTROLLER: 503,
    ErrorCode.NOT_ENOUGH_REPLICAS: 503,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: 503,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: 503,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: 503,
    ErrorCode.NOT_COORDINATOR: 503,
    ErrorCode.KAFKA_STORAGE_ERROR: 503,
}
"""Codes after which whoever asked can do something about it; all others are a matter of the cluster (500)."""


class _ErrorResponse(JSONResponse):
    """What is complained of may hold half a character of UTF-16, which UTF-8 cannot write and JSON can."""

    def render(self, content: object) -> bytes:
        try:
            return super().render(content)
        except UnicodeEncodeError:
            return json.dumps(content).encode("ascii")


class GatewayError(PenstockError):
    """A request that is not served as asked."""

    def __init__(
        self, status: int, message: str, *, error_code: int | None = None, error: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error_code = status if error_code is None else error_code
        self.message = message
        self.error = error

    def body(self) -> dict[str, object]:
        """The error as JSON."""
        told: dict[str, object] = {"error_code": self.error_code, "message": self.message}
        return told if self.error is None else told | {"error": self.error}

    def response(self) -> JSONResponse:
        """The error as an answer."""
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if self.status == 503 else None
        return _ErrorResponse(self.body(), status_code=self.status, headers=headers)


def gateway_error(error: PenstockError) -> GatewayError:
    """What an error of a client or of the cluster means to whoever asked."""
    match error:
        case GatewayError():
            return error
        case PenstockClientError():
            return _of_client_error(error)
        case RefusedError():
            return _of_code(error.code, str(error))
        case ApiError():
            return _of_code(int(error.code), str(error))
        case NotServedError():
            return GatewayError(501, str(error), error_code=50101, error="UNSUPPORTED_VERSION")
        case WireClientError():
            return GatewayError(503, str(error), error_code=_UNREACHABLE, error="BROKER_NOT_AVAILABLE")
        case UsageError():
            return GatewayError(422, str(error))
        case _:
            return GatewayError(500, str(error))


def install_error_handlers(app: FastAPI) -> None:
    """Have every error that leaves a handler answered in the one shape."""
    app.add_exception_handler(PenstockError, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(Exception, _answer_bug)


def _of_client_error(error: PenstockClientError) -> GatewayError:
    found = [status for kind, status in _STATUS_OF_CLIENT_ERROR.items() if isinstance(error, kind)]
    if not found:
        known = getattr(ErrorCode, error.code, None)
        if known is not None:
            return _of_code(known, str(error))
    status = found[0] if found else 500
    return GatewayError(status, str(error), error_code=_error_code(status), error=error.code)


def _of_code(code: int, message: str) -> GatewayError:
    status = _STATUS_OF_CODE.get(code, 500)
    return GatewayError(status, message, error_code=_error_code(status), error=code_name(code))


def _error_code(status: int) -> int:
    """Confluent's codes: the status and two digits, of which those of Kafka's own errors are fixed."""
    if status in (503, 504):
        return _UNREACHABLE
    return _KAFKA_ERROR if status >= 500 else status * 100 + 1


async def _answer_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, PenstockError)
    return gateway_error(error).response()


async def _answer_invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5]]
    return GatewayError(422, f"The request makes no sense: {'; '.join(found)}.").response()


async def _answer_http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return GatewayError(error.status_code, str(error.detail)).response()


async def _answer_bug(_: Request, error: Exception) -> JSONResponse:
    """A bug; the server logs it with its trace, and whoever asked learns nothing of the inside."""
    return GatewayError(500, f"The gateway failed ({type(error).__name__}); its log says why.").response()
