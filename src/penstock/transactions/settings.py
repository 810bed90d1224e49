"""What a user may choose about transactions."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionSettings:
    """Kafka's names and defaults."""

    #: ``transaction.max.timeout.ms``: the longest timeout that a producer may ask for.
    timeout_max_ms: int = 15 * 60 * 1000
    #: ``transactional.id.expiration.ms``: an id without a transaction for so long is forgotten.
    expiration_ms: int = 7 * 24 * 60 * 60 * 1000
