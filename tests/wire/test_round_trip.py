"""Every message at every version: written and read again, cut short everywhere, and with bytes too many."""

import random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.errors import DecodeError
from penstock.wire.api_keys import APIS, ApiKey, ApiSpec
from penstock.wire.compiler import decode_struct, encode_struct
from penstock.wire.framing import (
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from penstock.wire.primitives import Kind
from penstock.wire.schema import Field, Struct

VERSIONS = [
    pytest.param(spec, version, id=f"{spec.name}-{version}")
    for spec in APIS.values()
    for version in range(spec.min_version, spec.max_version + 1)
]

INTEGERS = {"b": 8, "h": 16, "i": 32, "q": 64}


def values(kind: "Kind[Any] | type[Struct]", version: int) -> st.SearchStrategy[Any]:
    if not isinstance(kind, Kind):
        return structs(kind, version)
    if kind.name == "string":
        return st.text(max_size=200)
    if kind.name == "boolean":
        return st.booleans()
    if kind.name == "uuid":
        return st.binary(min_size=16, max_size=16)
    if kind.name == "uint16":
        return st.integers(0, 2**16 - 1)
    if kind.is_fixed:
        bits = INTEGERS[kind.code]
        return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return st.binary(max_size=200).map(memoryview)


def field_values(field: Field, version: int) -> st.SearchStrategy[Any]:
    strategy = values(field.kind, version)
    if field.is_array:
        strategy = st.lists(strategy, max_size=3).map(tuple)
    return st.none() | strategy if field.nulls.include(version) else strategy


def structs(kind: type[Struct], version: int) -> st.SearchStrategy[Struct]:
    present = {name: f for name, f in kind.fields.items() if f.versions.include(version)}
    return st.builds(kind, **{name: field_values(field, version) for name, field in present.items()})


@pytest.mark.parametrize("spec", APIS.values(), ids=lambda spec: spec.name)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_request_of_any_version_is_read_as_written(spec: ApiSpec, data: st.DataObject) -> None:
    version = data.draw(st.integers(spec.min_version, spec.max_version), label="version")
    message = data.draw(structs(spec.request, version), label="message")
    frame = encode_request(spec.key, version, 77, message, client_id="tester")[4:]
    header = decode_request_header(frame)
    assert header[:4] == (spec.key, version, 77, "tester")
    assert decode_request(header.api_key, header.api_version, frame, header.body_position) == message


@pytest.mark.parametrize("spec", APIS.values(), ids=lambda spec: spec.name)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_response_of_any_version_is_read_as_written(spec: ApiSpec, data: st.DataObject) -> None:
    version = data.draw(st.integers(spec.min_version, spec.max_version), label="version")
    message = data.draw(structs(spec.response, version), label="message")
    frame = encode_response(spec.key, version, 77, message)
    assert int.from_bytes(frame[:4]) == len(frame) - 4
    assert decode_response(spec.key, version, frame[4:]) == (77, message)


@pytest.mark.parametrize(("spec", "version"), VERSIONS)
def test_body_survives_and_every_prefix_and_any_extra_byte_are_refused(
    fuzzing: SimpleNamespace, spec: ApiSpec, version: int
) -> None:
    rng = random.Random(version)
    flexible = spec.is_flexible(version)
    for kind in (spec.request, spec.response):
        for _ in range(5):
            message = fuzzing.random_struct(rng, kind, version)
            body = encode_struct(message, version=version, flexible=flexible)
            assert decode_struct(kind, body, version=version, flexible=flexible) == message
            prefixes = [body[:end] for end in range(len(body))]
            extended = [] if kind.may_be_followed_by_bytes else [body + b"\0"]
            for damaged in prefixes + extended:
                with pytest.raises(DecodeError):
                    decode_struct(kind, damaged, version=version, flexible=flexible)


@pytest.mark.parametrize(("spec", "version"), VERSIONS)
def test_frame_of_request_is_refused_at_every_prefix(
    fuzzing: SimpleNamespace, spec: ApiSpec, version: int
) -> None:
    sample = fuzzing.random_sample(random.Random(version), spec, version, is_request=True)
    for end in range(len(sample.frame)):
        with pytest.raises(DecodeError):
            fuzzing.read(sample, bytearray(sample.frame[:end]))


@pytest.mark.parametrize(("spec", "version"), VERSIONS)
def test_frame_of_response_is_refused_at_every_prefix(
    fuzzing: SimpleNamespace, spec: ApiSpec, version: int
) -> None:
    sample = fuzzing.random_sample(random.Random(version), spec, version, is_request=False)
    for end in range(len(sample.frame)):
        with pytest.raises(DecodeError):
            decode_response(spec.key, version, sample.frame[:end])


def test_field_set_at_version_without_it_is_left_out() -> None:
    spec = APIS[ApiKey.METADATA]
    asked = spec.request(allow_auto_topic_creation=False)
    body = encode_struct(asked, version=3, flexible=False)
    assert decode_struct(spec.request, body, version=3, flexible=False) == spec.request()
