"""librdkafka's errors as ours: one table from codes to classes, and Kafka's names for its own codes."""

from collections.abc import Mapping
from threading import current_thread, main_thread
from types import TracebackType
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from penstock.client import errors
from penstock.client.errors import DeliveryError, PenstockClientError
from penstock.model.error_codes import RETRIABLE, ErrorCode

_NAMES_OF_LOCAL_CODES: Mapping[int, str] = {
    KafkaError._TIMED_OUT: "REQUEST_TIMED_OUT",
    KafkaError._TIMED_OUT_QUEUE: "REQUEST_TIMED_OUT",
    KafkaError._MSG_TIMED_OUT: "REQUEST_TIMED_OUT",
    KafkaError._TRANSPORT: "NETWORK_EXCEPTION",
    KafkaError._RESOLVE: "NETWORK_EXCEPTION",
    KafkaError._ALL_BROKERS_DOWN: "BROKER_NOT_AVAILABLE",
    KafkaError._WAIT_COORD: "COORDINATOR_NOT_AVAILABLE",
    KafkaError._UNKNOWN_TOPIC: "UNKNOWN_TOPIC_OR_PARTITION",
    KafkaError._UNKNOWN_PARTITION: "UNKNOWN_TOPIC_OR_PARTITION",
    KafkaError._AUTHENTICATION: "SASL_AUTHENTICATION_FAILED",
    KafkaError._SSL: "SASL_AUTHENTICATION_FAILED",
    KafkaError._FENCED: "PRODUCER_FENCED",
    KafkaError._INVALID_ARG: "INVALID_CONFIG",
    KafkaError._AUTO_OFFSET_RESET: "OFFSET_OUT_OF_RANGE",
}

_RAISED_BY_BINDING = (KafkaException, RuntimeError, TypeError, ValueError, TimeoutError)

_LOCAL_RETRIABLE = frozenset(
    {
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._MSG_TIMED_OUT,
        KafkaError._TRANSPORT,
        KafkaError._RESOLVE,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._WAIT_COORD,
        KafkaError._QUEUE_FULL,
        KafkaError._RETRY,
        KafkaError._IN_PROGRESS,
        KafkaError._PREV_IN_PROGRESS,
    }
)

_CODES_OF_CLASSES: Mapping[type[PenstockClientError], tuple[int, ...]] = {
    errors.RequestTimedOut: (
        ErrorCode.REQUEST_TIMED_OUT,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._MSG_TIMED_OUT,
    ),
    errors.BrokerUnavailable: (
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        KafkaError._TRANSPORT,
        KafkaError._RESOLVE,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._WAIT_COORD,
    ),
    errors.UnknownTopic: (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
    ),
    errors.AlreadyExists: (ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.DUPLICATE_RESOURCE),
    errors.AuthenticationFailed: (
        ErrorCode.SASL_AUTHENTICATION_FAILED,
        ErrorCode.UNSUPPORTED_SASL_MECHANISM,
        ErrorCode.ILLEGAL_SASL_STATE,
        KafkaError._AUTHENTICATION,
        KafkaError._SSL,
    ),
    errors.AuthorizationFailed: (
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    ),
    errors.Fenced: (
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.FENCED_INSTANCE_ID,
        KafkaError._FENCED,
    ),
    errors.TransactionAborted: (ErrorCode.TRANSACTION_ABORTABLE,),
    errors.RecordRefused: (
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.INVALID_RECORD,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.INVALID_TIMESTAMP,
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    ),
    errors.OffsetUnavailable: (
        ErrorCode.OFFSET_OUT_OF_RANGE,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        KafkaError._AUTO_OFFSET_RESET,
        KafkaError._NO_OFFSET,
        KafkaError._LOG_TRUNCATION,
    ),
    errors.GroupError: (
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ErrorCode.FENCED_MEMBER_EPOCH,
        ErrorCode.STALE_MEMBER_EPOCH,
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        ErrorCode.UNRELEASED_INSTANCE_ID,
        KafkaError._MAX_POLL_EXCEEDED,
        KafkaError._ASSIGNMENT_LOST,
    ),
    errors.BufferFull: (KafkaError._QUEUE_FULL,),
    errors.SerializationError: (
        KafkaError._KEY_SERIALIZATION,
        KafkaError._VALUE_SERIALIZATION,
        KafkaError._KEY_DESERIALIZATION,
        KafkaError._VALUE_DESERIALIZATION,
    ),
}

_CLASS_OF_CODE = {int(code): kind for kind, codes in _CODES_OF_CLASSES.items() for code in codes}

_DELIVERY_CLASSES: Mapping[type[PenstockClientError], type[DeliveryError]] = {
    errors.RequestTimedOut: errors.DeliveryTimedOut,
    errors.UnknownTopic: errors.DeliveryToUnknownTopic,
    errors.AuthorizationFailed: errors.DeliveryUnauthorized,
    errors.Fenced: errors.DeliveryFenced,
    errors.RecordRefused: errors.DeliveryRefused,
}


def code_name(code: int, local_name: str) -> str:
    """Kafka's name for a code; librdkafka's own codes get that of the nearest of Kafka's, if there is one."""
    if code >= ErrorCode.UNKNOWN_SERVER_ERROR and code in ErrorCode._value2member_map_:
        return ErrorCode(code).name
    return _NAMES_OF_LOCAL_CODES.get(code, local_name.lstrip("_"))


def error_from(error: Any, *, doing: str) -> PenstockClientError:
    """What librdkafka's ``error`` means to somebody who was ``doing`` something."""
    code = int(error.code())
    if code == KafkaError._INVALID_ARG:
        return errors.ConfigurationError(f"Cannot {doing}: {error.str()}", code=code_name(code, error.name()))
    kind = _CLASS_OF_CODE.get(code, errors.RequestRefused)
    if error.txn_requires_abort() and kind is not errors.Fenced:
        kind = errors.TransactionAborted
    return kind(
        f"Cannot {doing}: {error.str()}",
        code=code_name(code, error.name()),
        is_retriable=_is_retriable(error, code),
    )


def delivery_error_from(error: Any, *, topic: str, partition: int) -> DeliveryError:
    """Why a record was not acknowledged."""
    code = int(error.code())
    kind = _DELIVERY_CLASSES.get(_CLASS_OF_CODE.get(code, PenstockClientError), DeliveryError)
    where = f"{topic}-{partition}" if partition >= 0 else topic
    made = kind(
        f"A record for {where} was not acknowledged: {error.str()}",
        code=code_name(code, error.name()),
        is_retriable=_is_retriable(error, code),
    )
    made.topic, made.partition = topic, partition
    return made


def exception_from(error: BaseException, *, doing: str) -> PenstockClientError:
    """As ``error_from``, for what librdkafka's binding raises."""
    if isinstance(error, PenstockClientError):
        return error
    if isinstance(error, KafkaException) and error.args and isinstance(error.args[0], KafkaError):
        return error_from(error.args[0], doing=doing)
    if isinstance(error, TimeoutError):
        return errors.RequestTimedOut(f"Cannot {doing}: no answer in time", code="REQUEST_TIMED_OUT")
    if isinstance(error, RuntimeError) and "closed" in str(error).lower():
        return errors.ClosedError(f"Cannot {doing}: the client is closed")
    if isinstance(error, TypeError | ValueError):
        return errors.ConfigurationError(f"Cannot {doing}: {error}", code="INVALID_REQUEST")
    return errors.RequestRefused(f"Cannot {doing}: {error}", code="UNKNOWN_SERVER_ERROR")


class CallbackFailed(Exception):
    """Carries what a function of the caller's raised through librdkafka's binding, so that it stays that."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class translated:
    """Turn what librdkafka's binding raises inside the block into errors of ours.

    A class, since every list of messages is read inside one and a generator takes three times as long.
    """

    __slots__ = ("_doing",)

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, CallbackFailed):
            raise error.error from error.error.__cause__
        if isinstance(error, _RAISED_BY_BINDING) and not isinstance(error, PenstockClientError):
            raise exception_from(error, doing=self._doing) from error
        if isinstance(error, SystemError):
            raise_interrupt(error)


def raise_interrupt(error: SystemError) -> None:
    """Raise Ctrl-C if it was that: while the binding calls us, it makes it a mere cause, or forgets it."""
    is_forgotten = "without setting an exception" in str(error) and current_thread() is main_thread()
    if is_forgotten or isinstance(error.__cause__, KeyboardInterrupt):
        raise KeyboardInterrupt from error


def _is_retriable(error: Any, code: int) -> bool:
    is_known = code in _LOCAL_RETRIABLE or code in RETRIABLE or bool(error.retriable())
    return is_known and not error.fatal()
