"""Many chains of records walked together, one step in each at a time."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.records.record import RECORD_BYTES_MIN
from penstock.spark.columns.strides import Strides
from penstock.spark.columns.varints import Integers

LANES_MIN = 24
"""Fewer lanes take longer together than one after another."""

_STEPS_AT_ONCE = 16
_STEPS_PER_ROW_MAX = 4
"""Steps of all lanes for each row there is: where some lanes are much longer than others, they are not waited
for at any price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """Parts of bodies, ascending: each from a beginning of a record, or what looks like one, to the next one.

    The last lane of a body ends where the body does.
    """

    starts: Integers
    ends: Integers

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marched:
    """How far the lanes came."""

    steps: Integers
    """Where each lane was after each step: a row for each step, a column for each lane."""
    is_record: npt.NDArray[np.bool_]
    """Where a step has led to another record of its lane."""
    last: Integers
    """The last record that each lane came to."""
    has_arrived: npt.NDArray[np.bool_]
    """Whether that one ends where the lane does; if so, what stands there is a record if the lane is one."""

    def begins(self, believed: npt.NDArray[np.bool_]) -> Integers:
        """The records of the lanes that are ``believed``, ascending."""
        chosen = self.is_record if believed.all() else self.is_record & believed
        return self.steps.T[chosen.T]


def march(strides: Strides, lanes: Lanes, rows: int) -> Marched:
    """Walk all ``lanes``, which hold about ``rows`` records, until few are still on their way."""
    steps = _steps(strides, lanes, rows)
    is_record = steps <= lanes.ends - RECORD_BYTES_MIN
    is_record[0] = True
    last = steps[np.count_nonzero(is_record, axis=0) - 1, np.arange(len(lanes))]
    has_arrived = last + strides.at(last) == lanes.ends
    return Marched(steps=steps, is_record=is_record, last=last, has_arrived=has_arrived)


def _steps(strides: Strides, lanes: Lanes, rows: int) -> Integers:
    """All steps; a lane that has come to its end stays right before it, where no record can begin."""
    last = lanes.ends - 2
    blocks = [lanes.starts[None, :]]
    blocks_max = _STEPS_PER_ROW_MAX * rows // (len(lanes) * _STEPS_AT_ONCE) + 1
    while len(blocks) <= blocks_max and _on_their_way(blocks[-1][-1], lanes) >= LANES_MIN:
        block = np.empty((_STEPS_AT_ONCE, len(lanes)), np.int64)
        positions = blocks[-1][-1]
        for step in block:
            np.add(positions, strides.at(positions), out=step)
            np.minimum(step, last, out=step)
            positions = step
        blocks.append(block)
    return np.concatenate(blocks)


def _on_their_way(positions: Integers, lanes: Lanes) -> int:
    return int(np.count_nonzero(positions <= lanes.ends - RECORD_BYTES_MIN))
