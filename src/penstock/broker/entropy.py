"""The randomness seam: ids come from here, so that a simulator can draw them from its seed."""

import os
from typing import Protocol

from penstock.model.ids import ZERO_TOPIC_ID


class Entropy(Protocol):
    """A source of ids nobody else has."""

    def uuid(self) -> bytes:
        """Sixteen bytes, never all zero, never seen before."""


class SystemEntropy:
    """The kernel's generator."""

    def uuid(self) -> bytes:
        """A random UUID whose text form does not begin with a dash, which looks like an option."""
        while True:
            raw = os.urandom(16)
            # The text form begins with '-' when the top six bits are 111110 (index 62 of the alphabet).
            if raw != ZERO_TOPIC_ID and raw[0] >> 2 != 62:
                return raw
