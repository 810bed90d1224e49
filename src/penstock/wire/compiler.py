"""Readers and writers of messages, compiled when first needed and kept.

A broker speaks some fifty message versions out of several hundred it could; compiling takes more than half a
millisecond each, so nothing is compiled at import. How the code looks is in ``decoder_source`` and
``encoder_source``; that it may be ``exec``-uted, and why, in ``codegen``.
"""

from functools import cache
from typing import TypeVar

from penstock.model.limits import ARRAY_ELEMENTS_MAX
from penstock.wire.decoder_source import Decoder, compile_decoder
from penstock.wire.encoder_source import Encoder, compile_encoder
from penstock.wire.schema import Struct

S = TypeVar("S", bound=Struct)


@cache
def decoder_for(message: type[Struct], version: int, flexible: bool) -> Decoder:
    """The reader of ``message`` at ``version``."""
    return compile_decoder(message, version, flexible=flexible)


@cache
def encoder_for(message: type[Struct], version: int, flexible: bool) -> Encoder:
    """The writer of ``message`` at ``version``."""
    return compile_encoder(message, version, flexible=flexible)


def decode_struct(
    kind: type[S],
    buffer: bytes | bytearray | memoryview,
    *,
    version: int,
    flexible: bool,
    position: int = 0,
    elements_max: int = ARRAY_ELEMENTS_MAX,
) -> S:
    """Read the struct that reaches from ``position`` to the end of ``buffer``, without any header."""
    decoded: S = decoder_for(kind, version, flexible)(memoryview(buffer), position, elements_max)
    return decoded


def encode_struct(value: Struct, *, version: int, flexible: bool) -> bytes:
    """Write a struct without any header."""
    parts: list[bytes | bytearray] = [bytearray()]
    encoder_for(type(value), version, flexible)(value, parts)
    return b"".join(parts)
