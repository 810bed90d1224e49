"""UnregisterBroker (key 64): forget a broker that will not come back. Flexible from the start."""

from penstock.wire.primitives import INT16, INT32, STRING
from penstock.wire.schema import Struct, field, nullable


class UnregisterBrokerRequest(Struct):
    """Forget this broker."""

    broker_id: int = field(INT32)


class UnregisterBrokerResponse(Struct):
    """Whether it is forgotten."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
