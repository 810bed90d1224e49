"""The decoder of Protobuf messages. Fields are found by number, so it needs the reader's schema only."""

from google.protobuf.descriptor import Descriptor

from penstock.spark.registry.column_lists import NotInColumnsError
from penstock.spark.registry.mixed_decoding import MixedDecoder
from penstock.spark.registry.protobuf.planning import plan
from penstock.spark.registry.protobuf.row_decoding import RowDecoder


def protobuf_decoder(message: Descriptor) -> MixedDecoder:
    """Reads messages of one type, whichever version of it wrote them."""
    by_rows = RowDecoder(message)
    try:
        return MixedDecoder(plan(message), by_rows)
    except NotInColumnsError:
        return MixedDecoder(None, by_rows)
