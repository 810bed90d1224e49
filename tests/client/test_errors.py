"""librdkafka's errors as ours."""

import pytest
from confluent_kafka import KafkaError, KafkaException

from penstock.client import errors
from penstock.client.error_mapping import delivery_error_from, error_from, exception_from, translated
from penstock.client.errors import PenstockClientError
from penstock.model.error_codes import ErrorCode


@pytest.mark.parametrize(
    ("code", "kind", "name", "is_retriable"),
    [
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, errors.UnknownTopic, "UNKNOWN_TOPIC_OR_PARTITION", True),
        (KafkaError._UNKNOWN_TOPIC, errors.UnknownTopic, "UNKNOWN_TOPIC_OR_PARTITION", False),
        (KafkaError._MSG_TIMED_OUT, errors.RequestTimedOut, "REQUEST_TIMED_OUT", True),
        (KafkaError._ALL_BROKERS_DOWN, errors.BrokerUnavailable, "BROKER_NOT_AVAILABLE", True),
        (ErrorCode.NOT_ENOUGH_REPLICAS, errors.BrokerUnavailable, "NOT_ENOUGH_REPLICAS", True),
        (ErrorCode.TOPIC_ALREADY_EXISTS, errors.AlreadyExists, "TOPIC_ALREADY_EXISTS", False),
        (ErrorCode.PRODUCER_FENCED, errors.Fenced, "PRODUCER_FENCED", False),
        (KafkaError._FENCED, errors.Fenced, "PRODUCER_FENCED", False),
        (KafkaError._AUTHENTICATION, errors.AuthenticationFailed, "SASL_AUTHENTICATION_FAILED", False),
        (
            ErrorCode.GROUP_AUTHORIZATION_FAILED,
            errors.AuthorizationFailed,
            "GROUP_AUTHORIZATION_FAILED",
            False,
        ),
        (ErrorCode.MESSAGE_TOO_LARGE, errors.RecordRefused, "MESSAGE_TOO_LARGE", False),
        (ErrorCode.OFFSET_OUT_OF_RANGE, errors.OffsetUnavailable, "OFFSET_OUT_OF_RANGE", False),
        (KafkaError._MAX_POLL_EXCEEDED, errors.GroupError, "MAX_POLL_EXCEEDED", False),
        (KafkaError._QUEUE_FULL, errors.BufferFull, "QUEUE_FULL", True),
        (KafkaError._INVALID_ARG, errors.ConfigurationError, "INVALID_CONFIG", False),
        (ErrorCode.INVALID_PARTITIONS, errors.RequestRefused, "INVALID_PARTITIONS", False),
    ],
)
def test_error_of_librdkafka_has_a_class_a_name_and_advice(
    code: int, kind: type[PenstockClientError], name: str, is_retriable: bool
) -> None:
    made = error_from(KafkaError(code), doing="do it")
    assert type(made) is kind
    assert (made.code, made.is_retriable) == (name, is_retriable)
    assert str(made).startswith("Cannot do it: ")
    assert str(made).endswith(kind.advice)


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        (KafkaError._MSG_TIMED_OUT, (errors.DeliveryTimedOut, errors.RequestTimedOut, TimeoutError)),
        (KafkaError._UNKNOWN_TOPIC, (errors.DeliveryToUnknownTopic, errors.UnknownTopic)),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, (errors.DeliveryUnauthorized, errors.AuthorizationFailed)),
        (KafkaError._FENCED, (errors.DeliveryFenced, errors.Fenced)),
        (ErrorCode.MESSAGE_TOO_LARGE, (errors.DeliveryRefused, errors.RecordRefused)),
        (ErrorCode.KAFKA_STORAGE_ERROR, (errors.DeliveryError,)),
    ],
)
def test_failed_delivery_is_both_a_delivery_error_and_what_happened(
    code: int, kinds: tuple[type[BaseException], ...]
) -> None:
    made = delivery_error_from(KafkaError(code), topic="orders", partition=3)
    assert isinstance(made, errors.DeliveryError)
    assert all(isinstance(made, kind) for kind in kinds)
    assert (made.topic, made.partition) == ("orders", 3)
    assert "orders-3" in str(made)


def test_fatal_error_is_never_retriable() -> None:
    assert not error_from(KafkaError(KafkaError._TRANSPORT, fatal=True), doing="go on").is_retriable


def test_error_that_ends_a_transaction_says_so() -> None:
    raw = KafkaError(ErrorCode.INVALID_TXN_STATE, txn_requires_abort=True)
    assert type(error_from(raw, doing="commit")) is errors.TransactionAborted


def test_what_the_binding_raises_becomes_ours_with_its_cause() -> None:
    raw = KafkaException(KafkaError(KafkaError._TIMED_OUT))
    with pytest.raises(errors.RequestTimedOut) as raised, translated("wait"):
        raise raw
    assert raised.value.__cause__ is raw


def test_closed_client_of_the_binding_is_a_closed_client_of_ours() -> None:
    assert isinstance(exception_from(RuntimeError("Consumer closed"), doing="read"), errors.ClosedError)


def test_every_class_has_advice_and_is_in_the_tree() -> None:
    classes = [
        each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)
    ]
    ours = [each for each in classes if each.__module__ == errors.__name__]
    assert len(ours) > 15
    for each in ours:
        assert issubclass(each, PenstockClientError)
        assert each.__name__ in (errors.__doc__ or "")
        assert each.advice or each is errors.ConfigurationError
