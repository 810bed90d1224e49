"""How batches are delivered: sizes, counts and times."""

from dataclasses import dataclass

IN_FLIGHT_MAX = 5
"""Batches of one producer and partition under way at once: brokers recognise that many when they are sent
again (KIP-98)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySettings:
    """The limits of one producer."""

    transactional_id: str | None = None
    request_bytes_max: int = 8 * 1024 * 1024
    """Of the batches in one request; a larger batch travels alone."""
    buffer_bytes_max: int = 32 * 1024 * 1024
    """Of all batches that are not acknowledged; whoever brings more waits."""
    request_timeout_ms: int = 30_000
    """How long a leader may wait for its followers."""
    delivery_timeout_ms: int = 120_000
    """How long one batch is tried."""
    pause_ms: int = 20
    pause_ms_max: int = 1_000
    """Before a batch is tried again; each pause is twice the one before."""
