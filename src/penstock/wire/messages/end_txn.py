"""EndTxn (key 26): a producer commits or aborts its transaction.

Version notes: 2 a new error; 3 flexible; 4 a new error; 5 the identity to go on with, since every transaction
of the second protocol (KIP-890) ends with a new epoch.
"""

from penstock.wire.primitives import BOOLEAN, INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, field


class EndTxnRequest(Struct):
    """End the transaction, well or not."""

    transactional_id: str = field(STRING)
    producer_id: int = field(INT64)
    producer_epoch: int = field(INT16)
    committed: bool = field(BOOLEAN)


class EndTxnResponse(Struct):
    """Decided; the markers may still be on their way."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    producer_id: int = field(INT64, "5+", default=-1)
    producer_epoch: int = field(INT16, "5+", default=-1)
