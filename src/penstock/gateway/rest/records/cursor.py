"""Where a reader stands, as text: ``0:17,1:4,*``.

Each pair is a partition and the offset that is read next. A star means that all other partitions are read
too, from their beginning: those that were empty so far, and those that the topic will be given.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.gateway.errors import GatewayError

OFFSET_MAX = 2**63 - 1
PARTITION_MAX = 2**31 - 1
OTHERS = "*"

_PAIR = re.compile(r"([0-9]{1,10}):([0-9]{1,19})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The next offset of some partitions, and whether the others are read as well."""

    positions: Mapping[int, int] = field(default_factory=dict)
    has_others: bool = False

    def __str__(self) -> str:
        pairs = [f"{number}:{offset}" for number, offset in sorted(self.positions.items())]
        return ",".join([*pairs, OTHERS] if self.has_others else pairs)


def parse_cursor(text: str) -> Cursor:
    """A cursor from its text; 422 if it is none."""
    pairs = text.split(",")
    has_others = OTHERS in pairs
    positions: dict[int, int] = {}
    for pair in pairs:
        if pair == OTHERS:
            continue
        match = _PAIR.fullmatch(pair)
        if match is None or int(match[2]) > OFFSET_MAX or int(match[1]) > PARTITION_MAX:
            raise _refusal(text)
        if int(match[1]) in positions:
            raise _refusal(text)
        positions[int(match[1])] = int(match[2])
    return Cursor(positions=positions, has_others=has_others)


def _refusal(text: str) -> GatewayError:
    return GatewayError(
        422, f"cursor={text[:100]!r} is not one that this gateway gave, such as 0:17,1:4,*.", error_code=42204
    )
