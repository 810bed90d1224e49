"""Where everything is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the service must be told."""

    bootstrap_servers: str
    orders_topic: str
    dead_letter_topic: str
    group: str = "billing"
    #: How often an order that cannot be billed is tried before it is put aside.
    attempts: int = 3
    #: How long the relay waits for a broker before it leaves events for the next time.
    send_seconds: float = 10.0
