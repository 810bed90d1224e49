"""What values are: guesses by looking at their bytes, in Spark's own expressions where every value is asked.

``registry`` means that a value begins as the serializers of a schema registry write it: a zero and the number
of a schema, which may be one of Avro, Protobuf or JSON. Whether other binary values are Protobuf is guessed
from a sample, in Python, since nothing but reading them tells.
"""

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column


class Kind(StrEnum):
    """What a value seems to be."""

    TOMBSTONE = "tombstone"
    EMPTY = "empty"
    REGISTRY = "registry"
    JSON = "json"
    TEXT = "text"
    BINARY = "binary"


TYPE_FIELDS = ("type", "event_type", "eventType", "kind", "event", "@type")
"""Fields of JSON objects that say what an object is; the first that is there counts."""

TYPE_CHARACTERS_MAX = 64
SCHEMA_ID_MAX = 10_000_000
"""Numbers of schemas count up from 1: a larger one is somebody's own bytes."""

_REGISTRY_BYTES_MIN = 6
_CONTROLS = r"[\x00-\x08\x0e-\x1f]"

_WIRE_TYPE_BITS = 3
_VARINT_BYTES_MAX = 10
_FIELD_MAX = 2**29 - 1


def parsed_json(value: "Column") -> "Column":
    """Objects and arrays as a variant; null for everything else, numbers and bare words too."""
    from pyspark.sql import functions as F

    text = value.cast("string")
    begins = F.ltrim(text)
    return F.when(begins.startswith("{") | begins.startswith("["), F.try_parse_json(text))


def schema_id(value: "Column") -> "Column":
    """The number of the schema that a value begins with; null if it does not begin so."""
    from pyspark.sql import functions as F

    begins = value.startswith(F.lit(b"\x00")) & (F.octet_length(value) >= _REGISTRY_BYTES_MIN)
    number = F.conv(F.hex(F.substring(value, 2, 4)), 16, 10).cast("bigint")
    return F.when(begins, F.nullif(F.when(number <= SCHEMA_ID_MAX, number), F.lit(0)))


def kind_of(value: "Column", parsed: "Column", schema: "Column") -> "Column":
    """The ``Kind`` of a value, of which ``parsed_json`` and ``schema_id`` have been taken."""
    from pyspark.sql import functions as F

    is_text = F.is_valid_utf8(value) & ~value.cast("string").rlike(_CONTROLS)
    return (
        F.when(value.isNull(), Kind.TOMBSTONE)
        .when(F.octet_length(value) == 0, Kind.EMPTY)
        .when(parsed.isNotNull(), Kind.JSON)
        .when(schema.isNotNull(), Kind.REGISTRY)
        .when(is_text, Kind.TEXT)
        .otherwise(Kind.BINARY)
    )


def type_of(parsed: "Column", schema: "Column") -> "Column":
    """What a value says of itself: a field of JSON, or the number of its schema; null if nothing."""
    from pyspark.sql import functions as F

    fields = [F.try_variant_get(parsed, f"$['{name}']", "string") for name in TYPE_FIELDS]
    named = F.when(parsed.isNotNull(), F.coalesce(*fields)).when(
        schema.isNotNull(), F.concat(F.lit("schema "), schema)
    )
    return F.left(named, F.lit(TYPE_CHARACTERS_MAX))


def looks_like_protobuf(value: bytes) -> bool:
    """Whether all bytes of ``value`` are fields as Protobuf writes them."""
    position = 0
    while position < len(value):
        tag, position = _varint(value, position)
        field, wire_type = tag >> _WIRE_TYPE_BITS, tag & 7
        if position < 0 or not 1 <= field <= _FIELD_MAX:
            return False
        position = _behind(value, position, wire_type)
        if position < 0 or position > len(value):
            return False
    return bool(value)


def _behind(value: bytes, position: int, wire_type: int) -> int:
    """Where a field ends; -1 if it is none."""
    match wire_type:
        case 0:
            return _varint(value, position)[1]
        case 1:
            return position + 8
        case 2:
            length, start = _varint(value, position)
            return start if start < 0 else start + length
        case 5:
            return position + 4
    return -1


def _varint(value: bytes, position: int) -> tuple[int, int]:
    """A number and where it ends; -1 if it does not end."""
    number = 0
    for place, octet in enumerate(value[position : position + _VARINT_BYTES_MAX]):
        number |= (octet & 0x7F) << (7 * place)
        if octet < 0x80:
            return number, position + place + 1
    return 0, -1
