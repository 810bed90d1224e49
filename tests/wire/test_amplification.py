"""Small bytes must not become big objects: floods of smallest elements, for each array of each request."""

import pytest
from _pytest.mark import ParameterSet

from penstock.model.errors import DecodeError
from penstock.model.limits import ARRAY_ELEMENTS_MAX
from penstock.wire.api_keys import APIS, ApiSpec
from penstock.wire.compiler import decode_struct, encode_struct
from penstock.wire.primitives import Kind
from penstock.wire.schema import Field, Struct

FRAME_BYTES = 16 * 1024 * 1024


def arrays(*, with_tagged: bool) -> list[ParameterSet]:
    """Every array right in a request, at the lowest and highest version that it is in."""
    return [
        pytest.param(spec, name, version, id=f"{spec.name}-{name}-{version}")
        for spec in APIS.values()
        for name, field in spec.request.fields.items()
        for version in (spec.min_version, spec.max_version)
        if field.is_array and field.versions.include(version) and (with_tagged or field.tag is None)
    ]


def smallest(field: Field) -> object:
    return field.kind.default if isinstance(field.kind, Kind) else field.kind()


def flood(spec: ApiSpec, name: str, version: int) -> bytes:
    """A frame of 16 MiB that claims, truthfully, as many of the smallest elements as fit into it."""
    flexible = spec.is_flexible(version)

    def body(count: int) -> bytes:
        elements = (smallest(spec.request.fields[name]),) * count
        message: Struct = spec.request(**{name: elements})
        return encode_struct(message, version=version, flexible=flexible)

    # The encodings of no, one and two elements tell where the array is and what an element looks like.
    none, one, two = body(0), body(1), body(2)
    start = next(i for i, (a, b) in enumerate(zip(none, one, strict=False)) if a != b) + 1
    size = len(two) - len(one)
    element = one[start : start + size]
    count = FRAME_BYTES // max(1, size)
    width = 0 if flexible else 4
    prefix = none[: start - (width or 1)]
    encoded_count = count.to_bytes(4) if width else _uvarint(count + 1)
    return prefix + encoded_count + element * count + none[start:]


def _uvarint(value: int) -> bytes:
    groups = [value >> shift & 0x7F for shift in range(0, value.bit_length(), 7)]
    return bytes([group | 0x80 for group in groups[:-1]] + groups[-1:])


# A tagged array stands behind its size in bytes, which the flood does not know how to write.
@pytest.mark.parametrize(("spec", "name", "version"), arrays(with_tagged=False))
def test_flood_of_smallest_elements_is_refused(spec: ApiSpec, name: str, version: int) -> None:
    encoded = flood(spec, name, version)
    with pytest.raises(DecodeError, match=rf"{name}: \d{{6,}} elements"):
        decode_struct(spec.request, encoded, version=version, flexible=spec.is_flexible(version))


@pytest.mark.parametrize(("spec", "name", "version"), arrays(with_tagged=True))
def test_one_element_over_the_limit_is_refused(spec: ApiSpec, name: str, version: int) -> None:
    elements = (smallest(spec.request.fields[name]),) * (ARRAY_ELEMENTS_MAX + 1)
    message: Struct = spec.request(**{name: elements})
    flexible = spec.is_flexible(version)
    encoded = encode_struct(message, version=version, flexible=flexible)
    with pytest.raises(DecodeError, match="100001 elements"):
        decode_struct(spec.request, encoded, version=version, flexible=flexible)
