"""Where the records of batches begin: each says how long it is, so each is found only from the one before.

This chain is the one thing that cannot be read as a column, and walking it record by record in Python would
take longer than all the rest. So many chains are walked at once, in lanes: each batch is one, and a large
batch is cut into several at places that look like beginnings of records. A guess is believed only if the
lane before it arrives exactly there; where one does not, it is walked on in Python until it meets another
lane. So what is found is what a plain walk finds, whatever the bytes are.
"""

from collections.abc import Container, Sequence
from math import isqrt

import numpy as np

from penstock.records.batch import Buffer
from penstock.spark.columns.bodies import Body
from penstock.spark.columns.errors import MalformedRowError
from penstock.spark.columns.guesses import guess_records
from penstock.spark.columns.lanes import LANES_MIN, Lanes, Marched, march
from penstock.spark.columns.strides import Strides
from penstock.spark.columns.varints import VARINT_BYTES_MAX, Integers, Octets

ROWS_MIN = 2000
"""Fewer rows are walked sooner than guessed about."""

_ROWS_OF_CUT_BATCH_MIN = 1000
"""What guessing costs for one batch pays only if it has so many."""


def find_records(data: Buffer, bodies: Sequence[Body]) -> Integers:
    """Where the length of each record of all ``bodies`` stands; they follow each other in ``data``."""
    rows = sum(body.record_count for body in bodies)
    if rows < ROWS_MIN:
        return _walk_all(data, bodies)
    octets = np.frombuffer(data, np.uint8)
    strides = Strides(octets)
    lanes = _lanes(octets, strides, bodies, lane_rows=isqrt(rows))
    if len(lanes) < LANES_MIN:
        return _walk_all(data, bodies)
    marched = march(strides, lanes, rows)
    if np.count_nonzero(marched.has_arrived) < len(lanes) // 2:
        return _walk_all(data, bodies)
    begins = _joined(data, bodies, lanes, marched)
    _check_counts(begins, bodies)
    return begins


def _walk_all(data: Buffer, bodies: Sequence[Body]) -> Integers:
    begins: list[int] = []
    for body in bodies:
        found, end = _walk(data, body.start, (body.end,), body.record_count)
        if end != body.end or len(found) != body.record_count:
            raise _wrong(body, len(begins))
        begins += found
    return np.array(begins, np.int64)


def _walk(data: Buffer, position: int, meeting: Container[int], count_max: int) -> tuple[list[int], int]:
    """The records from ``position`` until one begins where somebody is to be met; and where that is.

    Lengths that no record can have are noticed by the reader of the column of lengths. Here they only may
    not lead back, nor to more steps than there are records.
    """
    begins: list[int] = []
    try:
        for _ in range(count_max):
            if position in meeting:
                break
            begins.append(position)
            first, second = data[position], data[position + 1]
            if first < 0x80:
                position += 1 + (first >> 1)
            elif second < 0x80:
                position += 2 + ((first & 0x7F | second << 7) >> 1)
            else:
                position = _after(data, position)
    except IndexError:
        position = -1
    return begins, position


def _after(data: Buffer, position: int) -> int:
    """Where the record at ``position`` ends, however long its length is; it may be beyond all data."""
    raw = size = 0
    for octet in data[position : position + VARINT_BYTES_MAX]:
        raw |= (octet & 0x7F) << (7 * size)
        size += 1
        if octet < 0x80:
            break
    return position + size + (raw >> 1)


def _lanes(octets: Octets, strides: Strides, bodies: Sequence[Body], *, lane_rows: int) -> Lanes:
    starts, ends = [body.start for body in bodies], [body.end for body in bodies]
    for body in bodies:
        if body.record_count >= max(2 * lane_rows, _ROWS_OF_CUT_BATCH_MIN):
            guesses = guess_records(octets, strides, body, body.record_count // lane_rows).tolist()
            starts += guesses
            ends += guesses
    return Lanes(starts=np.sort(np.array(starts, np.int64)), ends=np.sort(np.array(ends, np.int64)))


def _joined(data: Buffer, bodies: Sequence[Body], lanes: Lanes, marched: Marched) -> Integers:
    """What the lanes found, and where one does not lead to the next, what a walk finds between them."""
    if marched.has_arrived.all():
        return marched.begins(marched.has_arrived)
    believed = np.ones(len(lanes), np.bool_)
    walked: list[int] = []
    meeting = {*lanes.starts.tolist(), *(body.end for body in bodies)}
    body_starts = np.array([body.start for body in bodies])
    for lane in np.flatnonzero(~marched.has_arrived).tolist():
        if not believed[lane]:
            continue
        place = int(np.searchsorted(body_starts, lanes.starts[lane], side="right")) - 1
        body = bodies[place]
        found, met = _walk(data, _after(data, int(marched.last[lane])), meeting, body.record_count)
        if met > body.end or met not in meeting:
            raise _wrong(body, sum(before.record_count for before in bodies[:place]))
        walked += found
        believed[lane + 1 : int(np.searchsorted(lanes.starts, met))] = False
    begins = marched.begins(believed)
    return np.insert(begins, np.searchsorted(begins, walked), walked)


def _check_counts(begins: Integers, bodies: Sequence[Body]) -> None:
    counts = np.diff(np.searchsorted(begins, [body.start for body in bodies]), append=len(begins))
    wanted = np.array([body.record_count for body in bodies])
    if (counts != wanted).any():
        place = int(np.argmax(counts != wanted))
        raise _wrong(bodies[place], int(wanted[:place].sum()))


def _wrong(body: Body, row: int) -> MalformedRowError:
    return MalformedRowError(row, f"Its bytes do not end with the last of its {body.record_count} records.")
