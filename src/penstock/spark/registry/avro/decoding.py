"""The decoder of what one Avro schema wrote as what another says."""

from penstock.schemas.avro.schema import AvroType
from penstock.spark.registry.avro.planning import plan
from penstock.spark.registry.avro.row_decoding import RowDecoder
from penstock.spark.registry.column_lists import NotInColumnsError
from penstock.spark.registry.mixed_decoding import MixedDecoder


def avro_decoder(writer: AvroType, reader: AvroType) -> MixedDecoder:
    """Reads what ``writer`` wrote as what ``reader`` says."""
    by_rows = RowDecoder(writer, reader)
    try:
        return MixedDecoder(plan(writer, reader), by_rows)
    except NotInColumnsError:
        return MixedDecoder(None, by_rows)
