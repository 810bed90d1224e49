"""The network between simulated nodes: late, lossy, doubling, reordering, and cut where the plan says so."""

from collections import Counter
from random import Random


class Network:
    """Decides what becomes of a message."""

    __slots__ = ("_cuts", "_draw", "delay_ms_max", "duplication", "loss")

    def __init__(self, draw: Random, *, delay_ms_max: int, loss: float, duplication: float) -> None:
        self._draw = draw
        self.delay_ms_max = delay_ms_max
        self.loss = loss
        self.duplication = duplication
        #: How many faults cut the way from one node to another.
        self._cuts: Counter[tuple[int, int]] = Counter()

    def delays(self, sender: int, target: int) -> list[int]:
        """After how long a message arrives: never, once, or more often."""
        draw = self._draw
        if self._cuts[sender, target] > 0 or draw.random() < self.loss:
            return []
        delays = [self._delay()]
        if draw.random() < self.duplication:
            delays.append(self._delay() * 5)
        return delays

    def cut(self, ways: list[tuple[int, int]]) -> None:
        """Let nothing through there until ``mend``."""
        self._cuts.update(ways)

    def mend(self, ways: list[tuple[int, int]]) -> None:
        """Take one cut away."""
        self._cuts.subtract(ways)

    def heal(self) -> None:
        """Be a good network from now on."""
        self._cuts.clear()
        self.loss = self.duplication = 0.0
        self.delay_ms_max = 2

    def _delay(self) -> int:
        """Mostly short, sometimes much longer: that is what reorders."""
        draw = self._draw
        if draw.random() < 0.05:
            return 1 + draw.randrange(self.delay_ms_max * 4)
        return draw.randrange(self.delay_ms_max + 1)
