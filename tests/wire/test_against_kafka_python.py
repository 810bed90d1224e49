"""The same messages through kafka-python's readers and writers, every API and version, both ways.

kafka-python builds its codecs from Kafka's own schema files, so agreement here is agreement with Kafka.
"""

import random
import uuid
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.wire.api_keys import APIS, ApiSpec
from penstock.wire.framing import (
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from penstock.wire.messages.api_versions import ApiVersionsResponse
from penstock.wire.primitives import Kind
from penstock.wire.schema import Field, Struct, replace

with warnings.catch_warnings():
    # It loads its schema files by a function that newer Pythons warn about.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka.protocol.admin
    import kafka.protocol.consumer
    import kafka.protocol.metadata
    import kafka.protocol.producer
    import kafka.protocol.sasl

MODULES = (
    kafka.protocol.admin,
    kafka.protocol.consumer,
    kafka.protocol.metadata,
    kafka.protocol.producer,
    kafka.protocol.sasl,
)
MESSAGES_PER_VERSION = 8

UNKNOWN_TO_THEM = {
    *("ConsumerGroupHeartbeat", "ConsumerGroupDescribe"),
    *("AlterPartition", "Envelope", "BrokerRegistration", "BrokerHeartbeat", "UnregisterBroker"),
    *("AllocateProducerIds", "JoinCluster", "DecommissionBroker", "OffsetTimes"),
    *("GetTelemetrySubscriptions", "PushTelemetry"),
    *("RaftVote", "RaftAppendEntries", "RaftInstallSnapshot", "RaftTimeoutNow", "RaftObserve"),
}
"""Their bytes are written out by hand in other files."""

SHARED = [spec for spec in APIS.values() if spec.name not in UNKNOWN_TO_THEM]
VERSIONS = [
    pytest.param(spec, version, id=f"{spec.name}-{version}")
    for spec in SHARED
    for version in range(spec.min_version, spec.max_version + 1)
]


def their_class(kind: type[Struct]) -> Any:
    return next(getattr(module, kind.__name__) for module in MODULES if hasattr(module, kind.__name__))


def their_name(fields: Any, name: str) -> str:
    """They call every bit field of operations by one name."""
    return name if name in fields else name.removeprefix("topic_").removeprefix("cluster_")


def is_bit_field(name: str) -> bool:
    return name.endswith("authorized_operations") and not name.startswith("include_")


def to_theirs(message: Struct, theirs: Any, version: int) -> Any:
    values = {}
    for name, field in type(message).fields.items():
        value = getattr(message, name)
        if not field.versions.include(version) or (field.tag is not None and value == field.default_value()):
            continue
        key = their_name(theirs._struct.fields, name)
        values[key] = value_to_theirs(value, name, field, theirs._struct.fields[key], version)
    return theirs(version=version, **values)


def value_to_theirs(value: Any, name: str, field: Field, their_field: Any, version: int) -> Any:
    if value is None:
        return None
    if is_bit_field(name) and their_field.type_str == "bitfield":
        return {bit for bit in range(32) if value >> bit & 1}
    if not isinstance(field.kind, Kind):
        theirs = their_field.data_class
        return (
            [to_theirs(item, theirs, version) for item in value]
            if field.is_array
            else to_theirs(value, theirs, version)
        )
    if field.is_array:
        return list(value)
    return plain_to_theirs(value, field.kind)


def plain_to_theirs(value: Any, kind: Kind[Any]) -> Any:
    if kind.name == "uuid":
        return uuid.UUID(bytes=value)
    return bytes(value) if kind.name in {"bytes", "records"} else value


def to_ours(theirs: Any, kind: type[Struct], version: int) -> Struct:
    values = {}
    for name, field in kind.fields.items():
        if field.versions.include(version):
            value = getattr(theirs, their_name(theirs._struct.fields, name))
            values[name] = value_to_ours(value, name, field, version)
    return kind(**values)


def value_to_ours(value: Any, name: str, field: Field, version: int) -> Any:
    if is_bit_field(name) and not isinstance(value, int):
        bits = {31} if value is None else value
        return int.from_bytes(sum(1 << bit for bit in bits).to_bytes(4), signed=True)
    if value is None:
        return field.default_value() if field.tag is not None or is_uuid(field) else None
    if not isinstance(field.kind, Kind):
        return (
            tuple(to_ours(item, field.kind, version) for item in value)
            if field.is_array
            else to_ours(value, field.kind, version)
        )
    if field.is_array:
        return tuple(value)
    return value.bytes if is_uuid(field) else value


def is_uuid(field: Field) -> bool:
    return isinstance(field.kind, Kind) and field.kind.name == "uuid"


@pytest.mark.parametrize(("spec", "version"), VERSIONS)
def test_request_is_the_same_in_both_tongues(fuzzing: SimpleNamespace, spec: ApiSpec, version: int) -> None:
    rng = random.Random(version)
    theirs = their_class(spec.request)
    for _ in range(MESSAGES_PER_VERSION):
        message = fuzzing.random_struct(rng, spec.request, version)
        encoded = encode_request(spec.key, version, 17, message, client_id="tongue")
        understood = theirs.decode(encoded, version=version, header=True, framed=True)
        assert to_ours(understood, spec.request, version) == message
        assert (understood.header.correlation_id, understood.header.client_id) == (17, "tongue")

        spoken = to_theirs(message, theirs, version)
        spoken.with_header(correlation_id=17, client_id="tongue")
        frame = bytes(spoken.encode(header=True, framed=True))[4:]
        header = decode_request_header(frame)
        assert header[:4] == (spec.key, version, 17, "tongue")
        assert decode_request(header.api_key, header.api_version, frame, header.body_position) == message
        assert frame == encoded[4:]


def readable_by_them(message: Struct) -> Struct:
    """They take an ApiVersions response with an error for one of version 0, whatever they asked for."""
    return replace(message, error_code=0) if isinstance(message, ApiVersionsResponse) else message


@pytest.mark.parametrize(("spec", "version"), VERSIONS)
def test_response_is_the_same_in_both_tongues(fuzzing: SimpleNamespace, spec: ApiSpec, version: int) -> None:
    rng = random.Random(version)
    theirs = their_class(spec.response)
    for _ in range(MESSAGES_PER_VERSION):
        message = readable_by_them(fuzzing.random_struct(rng, spec.response, version))
        encoded = encode_response(spec.key, version, 17, message)
        understood = theirs.decode(encoded, version=version, header=True, framed=True)
        assert to_ours(understood, spec.response, version) == message
        assert understood.header.correlation_id == 17

        spoken = to_theirs(message, theirs, version)
        spoken.with_header(correlation_id=17)
        frame = bytes(spoken.encode(header=True, framed=True))[4:]
        assert decode_response(spec.key, version, frame) == (17, message)
        assert frame == encoded[4:]


def test_apis_unknown_to_them_are_still_unknown() -> None:
    known = {spec.name for spec in APIS.values() if any(hasattr(m, spec.request.__name__) for m in MODULES)}
    assert {spec.name for spec in APIS.values()} - known == UNKNOWN_TO_THEM


@pytest.mark.parametrize("spec", SHARED, ids=lambda spec: spec.name)
def test_fields_are_those_of_the_schema(spec: ApiSpec) -> None:
    for kind in (spec.request, spec.response):
        for version in range(spec.min_version, spec.max_version + 1):
            compare_fields(kind, their_class(kind)._struct, version)
            assert bool(their_class(kind).flexible_version_q(version)) == spec.is_flexible(version)


def compare_fields(kind: type[Struct], theirs: Any, version: int) -> None:
    ours = {
        their_name(theirs.fields, name): field
        for name, field in kind.fields.items()
        if field.versions.include(version)
    }
    expected = {name: field for name, field in theirs.fields.items() if field.for_version_q(version)}
    assert list(ours) == list(expected)
    for name, field in ours.items():
        assert field.tag == expected[name].tag
        if not is_fixed(field):
            assert field.nulls.include(version) == bool(expected[name].nullable_for_version_q(version)), name
        if not isinstance(field.kind, Kind):
            compare_fields(field.kind, expected[name], version)


def is_fixed(field: Field) -> bool:
    return isinstance(field.kind, Kind) and field.kind.is_fixed and not field.is_array
