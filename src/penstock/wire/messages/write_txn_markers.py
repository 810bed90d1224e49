"""WriteTxnMarkers (key 27): leaders are told how transactions ended, by a coordinator or an administrator.

Flexible from the start. Version notes: 2 which protocol the transaction was of (KIP-1228), and so how
strictly epochs are compared.
"""

from penstock.wire.primitives import BOOLEAN, INT8, INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field


class WritableTxnMarkerTopic(Struct):
    """Partitions of one topic to mark."""

    name: str = field(STRING)
    partition_indexes: tuple[int, ...] = array(INT32)


class WritableTxnMarker(Struct):
    """How the transaction of a producer ended (true is committed), and where to write that down."""

    producer_id: int = field(INT64)
    producer_epoch: int = field(INT16)
    transaction_result: bool = field(BOOLEAN)
    topics: tuple[WritableTxnMarkerTopic, ...] = array(WritableTxnMarkerTopic)
    coordinator_epoch: int = field(INT32)
    transaction_version: int = field(INT8, "2+")


class WriteTxnMarkersRequest(Struct):
    """Write these markers."""

    markers: tuple[WritableTxnMarker, ...] = array(WritableTxnMarker)


class WritableTxnMarkerPartitionResult(Struct):
    """Whether one partition has the marker now."""

    partition_index: int = field(INT32)
    error_code: int = field(INT16)


class WritableTxnMarkerTopicResult(Struct):
    """The outcome for one topic."""

    name: str = field(STRING)
    partitions: tuple[WritableTxnMarkerPartitionResult, ...] = array(WritableTxnMarkerPartitionResult)


class WritableTxnMarkerResult(Struct):
    """The outcome for one producer's transaction."""

    producer_id: int = field(INT64)
    topics: tuple[WritableTxnMarkerTopicResult, ...] = array(WritableTxnMarkerTopicResult)


class WriteTxnMarkersResponse(Struct):
    """The outcome for every marker."""

    markers: tuple[WritableTxnMarkerResult, ...] = array(WritableTxnMarkerResult)
