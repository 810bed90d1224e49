"""Who may connect: a bound on all connections, on those of one address, and on how fast new ones come.

Names and meanings are Kafka's ``max.connections``, ``max.connections.per.ip`` and
``max.connection.creation.rate`` (KIP-402, KIP-612). Whoever comes too much is closed at once: a client
retries, and what is already connected is served undisturbed.
"""

from collections import Counter

SETTINGS = ("max.connections", "max.connections.per.ip", "max.connection.creation.rate")


class ConnectionLimits:
    """Counts connections. Time comes from the caller, in seconds."""

    def __init__(self, *, total_max: int, per_address_max: int, creation_rate_max: int) -> None:
        self.change(total_max=total_max, per_address_max=per_address_max, creation_rate_max=creation_rate_max)
        self._by_address: Counter[str] = Counter()
        self._tokens = float(creation_rate_max)
        self._refilled_at = 0.0
        self.total = 0
        self.refused = 0
        #: Those by the setting that forbade them.
        self.refused_by: Counter[str] = Counter(dict.fromkeys(SETTINGS, 0))

    def change(self, *, total_max: int, per_address_max: int, creation_rate_max: int) -> None:
        """Other bounds from now on; whoever is connected stays."""
        self._total_max = total_max
        self._per_address_max = per_address_max
        self._creation_rate_max = creation_rate_max

    def admit(self, address: str, now: float) -> str | None:
        """Count a new connection; a refusal comes back as the setting that forbids it."""
        reason = self._reason_to_refuse(address, now)
        if reason is None:
            self.total += 1
            self._by_address[address] += 1
        else:
            self.refused += 1
            self.refused_by[reason.partition("=")[0]] += 1
        return reason

    def leave(self, address: str) -> None:
        """An admitted connection has ended."""
        self.total -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def _reason_to_refuse(self, address: str, now: float) -> str | None:
        if self.total >= self._total_max:
            return f"max.connections={self._total_max}"
        if self._by_address[address] >= self._per_address_max:
            return f"max.connections.per.ip={self._per_address_max}"
        if not self._take_token(now):
            return f"max.connection.creation.rate={self._creation_rate_max}"
        return None

    def _take_token(self, now: float) -> bool:
        """A token bucket holding one second's worth."""
        rate = self._creation_rate_max
        self._tokens = min(float(rate), self._tokens + (now - self._refilled_at) * rate)
        self._refilled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
