import pytest

from penstock.model.errors import DecodeError
from penstock.wire.numbered import NUMBER_BYTES, encode_numbered, read_number
from penstock.wire.primitives import STRING
from penstock.wire.schema import Struct, field


class Name(Struct):
    """Something to stand behind a number."""

    name: str = field(STRING)


def test_struct_follows_its_number() -> None:
    assert encode_numbered(3, Name(name="ab"), version=0, flexible=False).hex() == "000300026162"
    assert encode_numbered(-1, Name(name="ab"), version=0, flexible=True).hex() == "ffff03616200"


@pytest.mark.parametrize("number", [-32768, -1, 0, 16, 32767])
def test_number_is_read_as_written(number: int) -> None:
    encoded = encode_numbered(number, Name(), version=0, flexible=False)
    assert read_number(encoded) == number
    assert encoded[NUMBER_BYTES:] == bytes(2)


@pytest.mark.parametrize("encoded", [b"", b"\0"])
def test_bytes_too_few_for_a_number_are_refused(encoded: bytes) -> None:
    with pytest.raises(DecodeError, match="too few"):
        read_number(encoded)
