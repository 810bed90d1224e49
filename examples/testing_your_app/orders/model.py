"""What an order is, and how it travels."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Something a customer wants to pay for."""

    number: str
    customer: str
    cents: int

    def to_bytes(self) -> bytes:
        """As it stands in a topic."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Order":
        """Raises ``ValueError`` for anything that is no order."""
        try:
            return cls(**json.loads(data))
        except TypeError as error:
            raise ValueError(f"no order: {data!r}") from error
