"""DecommissionBroker (key 10101, Penstock's own): empty a broker, then forget it.

May be asked again and again: every answer says how much is left to move. Since version 1 one can ask without
beginning it anew, should somebody have called it off meanwhile.
"""

from penstock.wire.primitives import BOOLEAN, INT16, INT32, STRING
from penstock.wire.schema import Struct, field, nullable


class DecommissionBrokerRequest(Struct):
    """Take everything off this broker, or stop doing so."""

    broker_id: int = field(INT32)
    is_cancelled: bool = field(BOOLEAN)
    #: Only say how far it is, and change nothing.
    is_question: bool = field(BOOLEAN, "1+")


class DecommissionBrokerResponse(Struct):
    """How far it is."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    replicas_left: int = field(INT32)
    is_voter: bool = field(BOOLEAN)
    #: Whether the broker is being emptied.
    is_draining: bool = field(BOOLEAN, "1+", default=True)
