"""The way from one host to another, in one direction: how long it takes, and whether it is open."""

from dataclasses import dataclass
from random import Random


@dataclass(slots=True, kw_only=True)
class NetworkHabits:
    """What all links of a network are like; changes when the network is healed."""

    seconds_min: float = 0.0001
    seconds_max: float = 0.001
    #: The share of segments that are lost and sent again, which takes ``retransmit_seconds`` more.
    loss: float = 0.0
    retransmit_seconds: float = 0.2
    #: The share of arrivals of which only some first bytes can be read at once.
    cuts: float = 0.05
    #: What a connection holds in one direction before its sender has to wait.
    window_bytes: int = 64 * 1024


class Link:
    """One direction between two hosts."""

    __slots__ = ("_blocks", "extra_seconds")

    def __init__(self) -> None:
        self._blocks = 0
        #: Added to everything that passes; a slow link.
        self.extra_seconds = 0.0

    @property
    def is_open(self) -> bool:
        """Whether anything passes."""
        return self._blocks == 0

    def block(self) -> None:
        """Let nothing pass until every block is taken away."""
        self._blocks += 1

    def unblock(self) -> None:
        """Take one block away."""
        self._blocks = max(0, self._blocks - 1)

    def heal(self) -> None:
        """Be a good link again."""
        self._blocks = 0
        self.extra_seconds = 0.0

    def delay(self, habits: NetworkHabits, draw: Random) -> float:
        """How long one segment takes."""
        chance = draw.random()
        seconds = habits.seconds_min + (habits.seconds_max - habits.seconds_min) * chance * chance * chance
        if habits.loss and draw.random() < habits.loss:
            seconds += habits.retransmit_seconds
        return seconds + self.extra_seconds
