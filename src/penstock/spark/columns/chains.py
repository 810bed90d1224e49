"""Where the records of a batch begin: each says how long it is, so each is found only from the one before.

This chain is the one thing that cannot be read as a column. It is walked here, and it is checked that it ends
where its batch does; everything else about a record is left to those who read columns.
"""

from collections.abc import Sequence

import numpy as np

from penstock.records.batch import Buffer
from penstock.spark.columns.bodies import Body
from penstock.spark.columns.errors import MalformedRowError
from penstock.spark.columns.varints import VARINT_BYTES_MAX, Integers


def find_records(data: Buffer, bodies: Sequence[Body]) -> Integers:
    """Where the length of each record of all ``bodies`` stands."""
    begins: list[int] = []
    for body in bodies:
        row = len(begins)
        try:
            end = _walk(data, body, begins)
        except IndexError:
            end = len(data) + 1
        if end != body.end:
            raise MalformedRowError(row, f"Its {body.count} records do not end where it ends.")
    return np.array(begins, np.int64)


def _walk(data: Buffer, body: Body, begins: list[int]) -> int:
    """Append where each record begins; where the last one ends.

    Lengths that lie are noticed by the reader of the column of lengths; here they only may not lead
    back, or to more steps than there are records.
    """
    position = body.start
    append = begins.append
    for _ in range(body.count):
        append(position)
        first = data[position]
        if first < 0x80:
            position += 1 + (first >> 1)
            continue
        second = data[position + 1]
        if second < 0x80:
            position += 2 + ((first & 0x7F | second << 7) >> 1)
            continue
        position = _after_long(data, position)
    return position


def _after_long(data: Buffer, position: int) -> int:
    raw = 0
    for index in range(VARINT_BYTES_MAX):
        octet = data[position + index]
        raw |= (octet & 0x7F) << (7 * index)
        if octet < 0x80:
            break
    return position + index + 1 + (raw >> 1)
