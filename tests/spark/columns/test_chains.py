"""Where records begin, found in lanes: the same as by a plain walk, whatever values look like."""

import random
from collections.abc import Callable

import pytest
from tests.spark.columns.rows import batch_at

from penstock.records.batch import HEADER_BYTES, read_header
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.records.varint import read_varint
from penstock.spark.columns.bodies import Body
from penstock.spark.columns.chains import ROWS_MIN, find_records
from penstock.spark.columns.errors import MalformedRowError

ROWS = ROWS_MIN * 2


def joined(batches: list[bytearray]) -> tuple[bytes, list[Body]]:
    """The batches in one buffer, and where in it their records are."""
    bodies, data = [], bytearray()
    for batch in batches:
        start = len(data) + HEADER_BYTES
        data += batch
        bodies.append(Body(start=start, end=len(data), record_count=read_header(batch).record_count))
    return bytes(data), bodies


def plain_walk(data: bytes, bodies: list[Body]) -> list[int]:
    begins = []
    for body in bodies:
        position = body.start
        while position < body.end:
            begins.append(position)
            length, start = read_varint(data, position)
            position = start + length
    return begins


def nested(rng: random.Random) -> bytes:
    """A value that is itself records."""
    return bytes(batch_at(rng.randrange(5), rng.randrange(1, 12)))[HEADER_BYTES:]


VALUES: dict[str, Callable[[random.Random], bytes]] = {
    "equal": lambda rng: b"0123456789",
    "text": lambda rng: b"text " * rng.randrange(30),
    "random": lambda rng: rng.randbytes(rng.randrange(200)),
    "zeros": lambda rng: bytes(rng.randrange(200)),
    "sixes": lambda rng: b"\x0c\0" * rng.randrange(60),
    "nested": nested,
    "mostly small": lambda rng: bytes(20_000 if rng.random() < 0.01 else 10),
    "two sizes": lambda rng: b"x" * (0 if rng.random() < 0.5 else 3000),
    "empty": lambda rng: b"",
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("batch_rows", [3, 40, 900, 1500, ROWS])
def test_lanes_find_what_a_plain_walk_finds(kind: str, batch_rows: int) -> None:
    rng = random.Random(f"{kind} {batch_rows}")
    records = [NewRecord(value=VALUES[kind](rng)) for _ in range(ROWS)]
    batches = [build_batch(records[start : start + batch_rows]) for start in range(0, ROWS, batch_rows)]
    data, bodies = joined(batches)
    assert find_records(data, bodies).tolist() == plain_walk(data, bodies)


def test_lanes_of_very_different_lengths_find_what_a_plain_walk_finds() -> None:
    """One batch with most of the rows beside many that have one."""
    small, large = NewRecord(value=b"x"), NewRecord(value=b"x" * 3000)
    batches = [build_batch([small] * 900)] + [build_batch([large]) for _ in range(1500)]
    data, bodies = joined(batches)
    assert find_records(data, bodies).tolist() == plain_walk(data, bodies)


@pytest.mark.parametrize("change", [-1, 1])
@pytest.mark.parametrize("place", [0, 20, 39])
def test_batch_that_claims_another_count_is_the_one_refused(place: int, change: int) -> None:
    data, bodies = joined([build_batch([NewRecord(value=b"abc")] * 100) for _ in range(40)])
    bodies[place] = bodies[place]._replace(record_count=100 + change)
    with pytest.raises(MalformedRowError, match="records") as caught:
        find_records(data, bodies)
    assert caught.value.row == place * 100


@pytest.mark.parametrize("kind", ["text", "nested", "zeros"])
@pytest.mark.parametrize("place", [0.0, 0.5, 0.999])
def test_chain_that_breaks_within_a_large_batch_is_refused(kind: str, place: float) -> None:
    rng = random.Random(kind)
    data, bodies = joined([build_batch([NewRecord(value=VALUES[kind](rng)) for _ in range(ROWS)])])
    begins = plain_walk(data, bodies)
    broken = bytearray(data)
    broken[begins[int(place * ROWS)]] ^= 0x02
    with pytest.raises(MalformedRowError, match=f"last of its {ROWS} records"):
        find_records(bytes(broken), bodies)
