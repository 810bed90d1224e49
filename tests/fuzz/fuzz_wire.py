"""Throws mutated messages at the readers: whatever the bytes, only ``DecodeError`` may come out.

    python tests/fuzz/fuzz_wire.py --count 1000000 --seed 1

Valid messages of every API and version are damaged the way a broken or hostile peer would: flipped bits,
lying lengths, endless varints, truncation, pieces of other messages, noise. What is accepted in spite of it
must survive being written and read again. The seed reproduces the run.
"""

import argparse
import random
import struct
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.model.errors import DecodeError
from penstock.wire.api_keys import APIS, ApiSpec
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

RESPONSE_SHARE = 0.1
CHECKED_SHARE = 0.1
POOL_REFRESH = 20_000
EDGES = (-1, -2, 0, 1, 2, 127, 128, 255, 0x7FFF, 0x7FFF_FFFF, -0x8000_0000, 100_000, 100_001)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A valid frame and what it claims to be."""

    spec: ApiSpec
    version: int
    is_request: bool
    frame: bytes


@dataclass(slots=True)
class Tally:
    """What became of the messages so far."""

    accepted: int = 0
    refused: int = 0

    @property
    def total(self) -> int:
        return self.accepted + self.refused


def random_struct(rng: random.Random, kind: type[Struct], version: int) -> Struct:
    """A struct with every field of ``version`` set at random, the others left at their defaults."""
    present = {name: f for name, f in kind.fields.items() if f.versions.include(version)}
    return kind(**{name: _random_field(rng, field, version) for name, field in present.items()})


def _random_field(rng: random.Random, field: Field, version: int) -> Any:
    if field.nulls.include(version) and rng.random() < 0.25:
        return None
    if field.tag is not None and rng.random() < 0.5:
        return field.default_value()
    if field.is_array:
        return tuple(_random_value(rng, field.kind, version) for _ in range(rng.choice((0, 1, 1, 2))))
    return _random_value(rng, field.kind, version)


def _random_value(rng: random.Random, kind: "Kind[Any] | type[Struct]", version: int) -> Any:
    if not isinstance(kind, Kind):
        return random_struct(rng, kind, version)
    if kind.name == "string":
        return "".join(rng.choices("abcXYZ019._-é€𝄞", k=rng.choice((0, 1, 5, 130))))
    if not kind.is_fixed:
        return memoryview(rng.randbytes(rng.choice((0, 1, 61, 200))))
    (value,) = struct.unpack(f">{kind.code}", rng.randbytes(kind.size))
    return value


def random_sample(rng: random.Random, spec: ApiSpec, version: int, *, is_request: bool) -> Sample:
    """A valid request or response of one API and version."""
    if is_request:
        message = random_struct(rng, spec.request, version)
        frame = encode_request(spec.key, version, rng.getrandbits(31), message, client_id="fuzz")
    else:
        message = random_struct(rng, spec.response, version)
        frame = encode_response(spec.key, version, rng.getrandbits(31), message)
    return Sample(spec=spec, version=version, is_request=is_request, frame=frame[4:])


def every_version() -> Iterator[tuple[ApiSpec, int]]:
    """Every API with every version of it."""
    for spec in APIS.values():
        for version in range(spec.min_version, spec.max_version + 1):
            yield spec, version


def _flip_bit(rng: random.Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set_byte(rng: random.Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def _tamper_length(rng: random.Random, data: bytearray) -> None:
    code, mask = rng.choice(((">H", 0xFFFF), (">I", 0xFFFF_FFFF)))
    size = struct.calcsize(code)
    if len(data) >= size:
        struct.pack_into(code, data, rng.randrange(len(data) - size + 1), rng.choice(EDGES) & mask)


def _long_varint(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    data[at:at] = b"\xff" * rng.randrange(1, 11) + bytes([rng.choice((0, 1, 0x0F, 0x7F))])


def _truncate(rng: random.Random, data: bytearray) -> None:
    del data[rng.randrange(len(data)) :]


def _delete(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    del data[at : at + rng.randrange(1, 9)]


def _repeat(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    data[at:at] = data[at : at + rng.randrange(1, 40)] * rng.choice((1, 1, 2, 50))


def _noise(rng: random.Random, data: bytearray) -> None:
    at = rng.randrange(len(data))
    data[at : at + rng.randrange(20)] = rng.randbytes(rng.randrange(20))


MUTATIONS: tuple[Callable[[random.Random, bytearray], None], ...] = (
    _flip_bit,
    _set_byte,
    _tamper_length,
    _long_varint,
    _truncate,
    _delete,
    _repeat,
    _noise,
)


def mutate(rng: random.Random, sample: Sample, other: Sample) -> bytearray:
    """The sample's frame, damaged one to four times; its header mostly stays, so that bodies get read."""
    kept = rng.choice((0, 4, 8, 15, 15, 15))
    body = bytearray(sample.frame[kept:])
    for _ in range(rng.choice((1, 1, 2, 4))):
        if body:
            rng.choice(MUTATIONS)(rng, body)
    if rng.random() < 0.1:
        body[rng.randrange(len(body) + 1) :] = other.frame[rng.randrange(len(other.frame)) :]
    return bytearray(sample.frame[:kept]) + body


def read(sample: Sample, frame: bytearray) -> tuple[Struct, int, bool] | None:
    """The message in ``frame``, its version and whether that is flexible; null if nobody should read it."""
    if not sample.is_request:
        _, message = decode_response(sample.spec.key, sample.version, frame)
        return message, sample.version, sample.spec.is_flexible(sample.version)
    header = decode_request_header(frame)
    spec = next((spec for key, spec in APIS.items() if key == header.api_key), None)
    if spec is None or not spec.speaks(header.api_version):
        return None
    message = decode_request(header.api_key, header.api_version, frame, header.body_position)
    return message, header.api_version, spec.is_flexible(header.api_version)


def check_survives(message: Struct, version: int, flexible: bool) -> None:
    """What was accepted must be a message like any other."""
    encoded = encode_struct(message, version=version, flexible=flexible)
    again = decode_struct(type(message), encoded, version=version, flexible=flexible)
    if again != message:
        raise AssertionError(f"{message!r} became {again!r}")


def attempt(rng: random.Random, sample: Sample, frame: bytearray, tally: Tally) -> None:
    """Read one damaged frame; anything but a message or a ``DecodeError`` is shown and raised."""
    try:
        found = read(sample, frame)
        if found is not None and rng.random() < CHECKED_SHARE:
            check_survives(*found)
    except DecodeError:
        tally.refused += 1
        return
    except BaseException:
        print(f"broken by {sample.spec.name} version {sample.version}: {frame.hex()}", file=sys.stderr)
        raise
    if found is None:
        tally.refused += 1
    else:
        tally.accepted += 1


def fuzz(count: int, seed: int, report: Callable[[Tally], None] | None = None) -> Tally:
    """Try ``count`` damaged messages; ``report`` hears how it goes now and then."""
    rng = random.Random(seed)
    tally = Tally()
    versions = list(every_version())
    while tally.total < count:
        pool = [
            random_sample(rng, spec, version, is_request=rng.random() >= RESPONSE_SHARE)
            for spec, version in versions
        ]
        for _ in range(min(POOL_REFRESH, count - tally.total)):
            sample = rng.choice(pool)
            attempt(rng, sample, mutate(rng, sample, rng.choice(pool)), tally)
        if report is not None:
            report(tally)
    return tally


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.perf_counter()

    def report(tally: Tally) -> None:
        if tally.total % 100_000 == 0:
            rate = tally.total / (time.perf_counter() - started)
            print(f"{tally.total:,} of {options.count:,}, {rate:,.0f} a second", flush=True)

    tally = fuzz(options.count, options.seed, report)
    seconds = time.perf_counter() - started
    print(
        f"seed {options.seed}: {tally.total:,} messages in {seconds:.1f} s, "
        f"{tally.accepted:,} accepted, {tally.refused:,} refused with DecodeError, nothing else came out"
    )


if __name__ == "__main__":
    main()
