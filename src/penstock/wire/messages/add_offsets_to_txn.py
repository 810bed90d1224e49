"""AddOffsetsToTxn (key 25): a producer will commit a group's offsets in its transaction.

Version notes: 2 a new error; 3 flexible; 4 a new error.
"""

from penstock.wire.primitives import INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, field


class AddOffsetsToTxnRequest(Struct):
    """Add the partition that holds the group's offsets to the transaction."""

    transactional_id: str = field(STRING)
    producer_id: int = field(INT64)
    producer_epoch: int = field(INT16)
    group_id: str = field(STRING)


class AddOffsetsToTxnResponse(Struct):
    """Whether it is in the transaction now."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
