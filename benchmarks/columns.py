"""How fast records become Arrow columns and columns records: ``python benchmarks/columns.py``.

Rows per CPU second of one process, the best of several rounds: other programs on the machine take their time
from the clock, but less from that. Keys have 16 bytes; values, of eight letters, have half to one and a half
times the size that is named. Fetches are of about 4 MB, in batches of 16 KB as Java's producer makes them or
of 1 MB as ours does. Nothing is asserted but that every row is there.
"""

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from report import new_parser, report
from table import Line

from penstock.records.batch import split_batches, stamp
from penstock.records.record import decode_records
from penstock.spark.columns.decoding import decode
from penstock.spark.columns.encoding import encode
from penstock.spark.columns.partitioning import murmur2_partitions
from penstock.spark.columns.schema import COLUMNS, COLUMNS_WITHOUT_HEADERS, HEADERS, arrow_type

FETCH_BYTES = 4_000_000
BATCH_BYTES = {"16 KB": 16_384, "1 MB": 1_000_000}
SIZES = (20, 100, 1000)
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
ROW_BYTES = 40
"""Key, lengths and deltas."""

DECODE_ASKED = 2_000_000
ENCODE_ASKED = 2_500_000
NOW_MS = 1_700_000_000_000


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = new_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="of each measurement (default: 15)")
    report(_all_lines, parser.parse_args())


def _all_lines(directory: Path, options: argparse.Namespace) -> Iterator[Line]:
    rounds: int = options.rounds
    yield from _sizes(rounds)
    yield from _columns(rounds)
    yield from _checksums(rounds)
    yield from _codecs(rounds)
    yield from _others(rounds)


def _sizes(rounds: int) -> Iterator[Line]:
    rows = {size: make_rows(size) for size in SIZES}
    for size, name in itertools.product(SIZES, BATCH_BYTES):
        run = _decoding(make_fetch(rows[size], BATCH_BYTES[name]))
        subject, asked = f"{size} B in batches of {name}", DECODE_ASKED if size == 100 else 0
        yield _line("decode all but headers", subject, rounds, rows[size], run, asked)
    for size, name in itertools.product(SIZES, BATCH_BYTES):
        run = _encoding(rows[size], BATCH_BYTES[name])
        subject, asked = f"{size} B in batches of {name}", ENCODE_ASKED if size == 100 else 0
        yield _line("encode without headers", subject, rounds, rows[size], run, asked)


def _columns(rounds: int) -> Iterator[Line]:
    rows, with_headers = make_rows(100), make_rows(100, headers=True)
    fetched, fetched_with_headers = make_fetch(rows, 1_000_000), make_fetch(with_headers, 1_000_000)
    for subject, data, wanted in (
        ("all but headers", fetched, COLUMNS_WITHOUT_HEADERS),
        ("all, no headers there", fetched, COLUMNS),
        ("all, none to two headers in a record", fetched_with_headers, COLUMNS),
        ("all but headers, which are there", fetched_with_headers, COLUMNS_WITHOUT_HEADERS),
        ("value and timestamp", fetched, ("value", "timestamp")),
        ("offset", fetched, ("offset",)),
    ):
        yield _line("decode 100 B in batches of 1 MB", subject, rounds, rows, _decoding(data, wanted=wanted))
    run = _encoding(with_headers, 1_000_000)
    yield _line("encode 100 B in batches of 1 MB", "none to two headers in a record", rounds, rows, run)


def _checksums(rounds: int) -> Iterator[Line]:
    for size, name in itertools.product((100, 1000), BATCH_BYTES):
        rows = make_rows(size)
        fetched = make_fetch(rows, BATCH_BYTES[name])
        for check_crc in (True, False):
            subject = f"{size} B in batches of {name}, {'with' if check_crc else 'without'}"
            run = _decoding(fetched, check_crc=check_crc)
            yield _line("decode with and without checksum", subject, 3 * rounds, rows, run)


def _codecs(rounds: int) -> Iterator[Line]:
    rows = make_rows(100)
    for codec, name in itertools.product(CODECS, BATCH_BYTES):
        run = _decoding(make_fetch(rows, BATCH_BYTES[name], codec))
        yield _line("decode 100 B", f"{codec} in batches of {name}", rounds, rows, run)
    for codec in CODECS:
        # gzip takes half a second.
        yield _line("encode 100 B", codec, min(rounds, 5), rows, _encoding(rows, 1_000_000, codec))


def _others(rounds: int) -> Iterator[Line]:
    rows = make_rows(100)
    fetched = make_fetch(rows, 1_000_000)
    yield _line("others", "records one by one in Python", 1, rows, lambda: _plainly(fetched))
    keys = rows.column("key")
    yield _line("others", "murmur2 of keys", rounds, rows, lambda: len(murmur2_partitions(keys, 12)))


def _plainly(fetched: bytes) -> int:
    return sum(len(decode_records(fetched, header, place)) for place, header in split_batches(fetched))


def make_rows(size: int, *, headers: bool = False) -> Any:
    """As many rows as make a fetch."""
    count = FETCH_BYTES // (size + ROW_BYTES)
    rng = np.random.default_rng(size)
    columns = {
        "key": _letters(rng, np.full(count, 16)),
        "value": _letters(rng, rng.integers(size // 2, size * 3 // 2 + 1, count)),
        "timestamp_ms": pa.array(NOW_MS + np.arange(count) // 3),
    }
    if headers:
        columns[HEADERS] = _headers(rng, count)
    return pa.record_batch(columns)


def _letters(rng: np.random.Generator, lengths: Any) -> Any:
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int32)
    content = rng.integers(97, 105, int(offsets[-1]), np.uint8)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), len(lengths), buffers)


def _headers(rng: np.random.Generator, count: int) -> Any:
    offsets = np.append(0, np.cumsum(rng.integers(0, 3, count))).astype(np.int32)
    names = pa.array(["trace-id", "source"]).take(pa.array(rng.integers(0, 2, offsets[-1])))
    contents = pa.array([b"0123456789abcdef", b"orders", None], pa.binary())
    values = contents.take(pa.array(rng.integers(0, 3, offsets[-1])))
    kind = arrow_type(HEADERS)
    pairs = pa.StructArray.from_arrays([names, values], fields=list(kind.value_type))
    return pa.ListArray.from_arrays(pa.array(offsets), pairs, type=kind)


def make_fetch(rows: Any, batch_bytes: int, codec: str = "none") -> bytes:
    """The rows as a broker would send them."""
    fetched = bytearray()
    for batch in encode(rows, compression=codec, batch_bytes_max=batch_bytes, now_ms=NOW_MS):
        stamped = bytearray(batch.data)
        stamp(stamped, batch.first_row, 0)
        fetched += stamped
    return bytes(fetched)


def _decoding(
    fetched: bytes, *, wanted: tuple[str, ...] = COLUMNS_WITHOUT_HEADERS, check_crc: bool = True
) -> Callable[[], int]:
    def run() -> int:
        decoded = decode(
            fetched,
            topic="orders",
            partition=0,
            wanted=wanted,
            first_offset=0,
            end_offset=2**62,
            check_crc=check_crc,
        )
        count: int = decoded.batch.num_rows
        return count

    return run


def _encoding(rows: Any, batch_bytes: int, codec: str = "none") -> Callable[[], int]:
    def run() -> int:
        batches = encode(rows, compression=codec, batch_bytes_max=batch_bytes, now_ms=NOW_MS)
        return sum(batch.record_count for batch in batches)

    return run


def _line(title: str, subject: str, rounds: int, rows: Any, run: Callable[[], int], asked: int = 0) -> Line:
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        count = run()
        best = min(best, time.process_time() - start)
        if count != rows.num_rows:
            raise SystemExit(f"{title}, {subject}: {count} rows came of {rows.num_rows}.")
    rate = rows.num_rows / best
    return Line(
        key=f"{title}: {subject}",
        title=title,
        subject=subject,
        value=rate,
        unit="rows/CPU-s",
        target=f"{asked:,} or more" if asked else "",
        ratio=rate / asked if asked else None,
        details={"megabytes_per_cpu_second": rows.nbytes / best / 1e6},
    )


if __name__ == "__main__":
    main()
