"""How many different keys there are, estimated in sixteen kilobytes.

HyperLogLog (Flajolet and others, 2007) with 2^14 registers: the standard error is 0.81 percent. Small numbers
are counted linearly, as the paper advises; with hashes of 64 bits large ones need no correction.
"""

import math
from collections.abc import Iterable
from hashlib import blake2b

REGISTER_BITS = 14
_REGISTERS = 1 << REGISTER_BITS
_REST_BITS = 64 - REGISTER_BITS
_REST_MASK = (1 << _REST_BITS) - 1
_ALPHA = 0.7213 / (1 + 1.079 / _REGISTERS)
_LINEAR_UP_TO = 2.5 * _REGISTERS

STANDARD_ERROR = 1.04 / math.sqrt(_REGISTERS)


class HyperLogLog:
    """An estimate of how many different keys were added."""

    __slots__ = ("_registers",)

    def __init__(self) -> None:
        self._registers = bytearray(_REGISTERS)

    def add(self, keys: Iterable[bytes]) -> None:
        """Add keys; one that was added before changes nothing."""
        registers = self._registers
        for key in keys:
            digest = int.from_bytes(blake2b(key, digest_size=8).digest())
            register = digest >> _REST_BITS
            rank = _REST_BITS + 1 - (digest & _REST_MASK).bit_length()
            if rank > registers[register]:
                registers[register] = rank

    def merge(self, other: "HyperLogLog") -> None:
        """Add all that the other was given."""
        self._registers = bytearray(map(max, self._registers, other._registers))

    def estimate(self) -> int:
        """How many there are, give or take a percent."""
        raw = _ALPHA * _REGISTERS**2 / sum(2.0**-rank for rank in self._registers)
        zeros = self._registers.count(0)
        if raw <= _LINEAR_UP_TO and zeros:
            return round(_REGISTERS * math.log(_REGISTERS / zeros))
        return round(raw)
