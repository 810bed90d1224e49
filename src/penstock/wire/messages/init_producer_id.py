"""InitProducerId (key 22): an identity for an idempotent or transactional producer.

Version notes: 2 flexible; 3 a producer may ask to go on with the id it has (KIP-360); 4 and 5 new errors.
"""

from penstock.wire.primitives import INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, field, nullable


class InitProducerIdRequest(Struct):
    """Who am I? Without a transactional id: somebody new."""

    transactional_id: str | None = nullable(STRING)
    transaction_timeout_ms: int = field(INT32)
    producer_id: int = field(INT64, "3+", default=-1)
    producer_epoch: int = field(INT16, "3+", default=-1)


class InitProducerIdResponse(Struct):
    """The identity to produce with."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    producer_id: int = field(INT64, default=-1)
    producer_epoch: int = field(INT16)
