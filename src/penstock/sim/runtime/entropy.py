"""Ids drawn from the seed."""

from random import Random

from penstock.model.ids import ZERO_TOPIC_ID


class SeededEntropy:
    """Gives every process ids of its own."""

    def __init__(self, draw: Random) -> None:
        self._draw = draw

    def uuid(self) -> bytes:
        """Sixteen bytes whose text form does not begin with a dash, as the real source's does not."""
        while True:
            raw = self._draw.randbytes(16)
            if raw != ZERO_TOPIC_ID and raw[0] >> 2 != 62:
                return raw
