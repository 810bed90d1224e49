"""AllocateProducerIds (key 67): a block of producer ids for a broker. Flexible from the start."""

from penstock.wire.primitives import INT16, INT32, INT64
from penstock.wire.schema import Struct, field


class AllocateProducerIdsRequest(Struct):
    """The next block, please."""

    broker_id: int = field(INT32)
    broker_epoch: int = field(INT64, default=-1)


class AllocateProducerIdsResponse(Struct):
    """A block that nobody else will ever get."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    producer_id_start: int = field(INT64)
    producer_id_len: int = field(INT32)
