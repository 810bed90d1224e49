"""Tagged records of any schemas into one column: sorted by schema, each group decoded, put back in order.

Works on Arrow arrays, knows nothing of Spark, and remembers the decoders it made.
"""

import functools
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from penstock.model.errors import UsageError
from penstock.schemas.protobuf.parsing import parse_file
from penstock.spark.registry.arrow_types import arrow_type
from penstock.spark.registry.avro.decoding import avro_decoder
from penstock.spark.registry.avro.parsing import parse_schema
from penstock.spark.registry.errors import SchemaUnsupportedError, UnreadableRecordError
from penstock.spark.registry.lookup import Location, SchemaLookup, lookup_at, referred_by
from penstock.spark.registry.payloads import Decoded, Payloads
from penstock.spark.registry.protobuf.decoding import protobuf_decoder
from penstock.spark.registry.protobuf.messages import message_descriptor, names_at
from penstock.spark.registry.reader_schemas import ReaderSchema, spark_type
from penstock.spark.registry.registered import Format, RegisteredSchema
from penstock.spark.registry.tags import Group, split
from penstock.spark.registry.wire_format import Tag

DECODERS_KEPT_MAX = 1000
SCHEMA_ID_MAX = 2**31 - 1
NO_ID = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodePlan:
    """All that a task needs to know."""

    location: Location
    reader: ReaderSchema
    fail_fast: bool = False


class GroupDecoder(Protocol):
    """Reads records that one schema wrote."""

    def decode(self, payloads: Payloads) -> Decoded:
        """Every record's value, or the reason why it has none."""


@functools.lru_cache(maxsize=16)
def decoder_of(plan: DecodePlan) -> "RecordDecoder":
    """The same decoder for the same plan in a process, with all it has learnt."""
    return RecordDecoder(plan, lookup_at(plan.location))


class RecordDecoder:
    """Decodes columns of tagged records."""

    def __init__(self, plan: DecodePlan, lookup: SchemaLookup) -> None:
        self._plan = plan
        self._lookup = lookup
        self._formats = _formats(plan.reader, lookup)
        self._value_type = arrow_type(spark_type(plan.reader))
        self._decoders: OrderedDict[Tag, tuple[RegisteredSchema, GroupDecoder]] = OrderedDict()

    def decode(self, values: Any, header_values: Any | None = None) -> Any:
        """A struct of value, error and schema id for each row; for a null row all three are null."""
        tagged = split(values, header_values, has_indexes=self._plan.reader.format is Format.PROTOBUF)
        reasons = dict(tagged.reasons)
        ids = np.full(len(values), NO_ID)
        parts = []
        for group in tagged.groups:
            schema_id, decoded = self._decode_group(group)
            parts.append(decoded.values)
            reasons |= {int(group.rows[row]): reason for row, reason in decoded.reasons.items()}
            ids[group.rows] = NO_ID if schema_id is None else schema_id
        self._check(reasons)
        return _result(self._in_order(parts, tagged.groups, len(values)), reasons, ids)

    def _in_order(self, parts: list[Any], groups: list[Group], length: int) -> Any:
        """The values of all groups as one column, null for rows that are in none."""
        if len(parts) == 1 and len(parts[0]) == length:
            return parts[0]  # The usual case: one schema wrote all; its rows are in order.
        order = np.zeros(length, np.int64)
        next_place = 1
        for group in groups:
            order[group.rows] = next_place + np.arange(len(group.rows))
            next_place += len(group.rows)
        return pa.concat_arrays([pa.nulls(1, self._value_type), *parts]).take(pa.array(order))

    def _decode_group(self, group: Group) -> tuple[int | None, Decoded]:
        tag = group.tag
        try:
            schema, decoder = self._decoder(tag)
        except UsageError as error:
            nothing = pa.nulls(len(group.rows), self._value_type)
            reasons = dict.fromkeys(range(len(group.rows)), f"{tag}: {error}")
            return tag.schema_id, Decoded(values=nothing, reasons=reasons)
        decoded = decoder.decode(group.payloads)
        reasons = {row: f"{tag}: {reason}" for row, reason in decoded.reasons.items()}
        return schema.schema_id, Decoded(values=decoded.values, reasons=reasons)

    def _decoder(self, tag: Tag) -> tuple[RegisteredSchema, GroupDecoder]:
        if tag in self._decoders:
            return self._decoders[tag]
        schema = (
            self._lookup.by_id(tag.schema_id or 0) if tag.guid is None else self._lookup.by_guid(tag.guid)
        )
        if schema.format is not self._plan.reader.format:
            raise SchemaUnsupportedError(
                f"written as {schema.format.lower()}, and read as {self._plan.reader.format.lower()}"
            )
        self._decoders[tag] = schema, self._formats.decoder(schema, tag)
        if len(self._decoders) > DECODERS_KEPT_MAX:
            self._decoders.popitem(last=False)
        return self._decoders[tag]

    def _check(self, reasons: dict[int, str]) -> None:
        if self._plan.fail_fast and reasons:
            raise UnreadableRecordError(
                f"{len(reasons)} of the batch's records do not decode, and the mode is FAILFAST; the first:"
                f" {reasons[min(reasons)]}"
            )


class _Formats(Protocol):
    def decoder(self, writer: RegisteredSchema, tag: Tag) -> GroupDecoder: ...


class _Avro:
    def __init__(self, reader: ReaderSchema, lookup: SchemaLookup) -> None:
        self._reader = parse_schema(reader.text, dict(reader.references))
        self._lookup = lookup

    def decoder(self, writer: RegisteredSchema, _: Tag) -> GroupDecoder:
        return avro_decoder(parse_schema(writer.text, referred_by(writer, self._lookup)), self._reader)


class _Protobuf:
    """Fields are found by their numbers, so the writer's schema only says which message it was."""

    def __init__(self, reader: ReaderSchema) -> None:
        message = message_descriptor(reader.text, dict(reader.references), reader.message)
        self._name = message.full_name
        self._decoder = protobuf_decoder(message)

    def decoder(self, writer: RegisteredSchema, tag: Tag) -> GroupDecoder:
        names = names_at(parse_file(writer.text), tag.message_indexes)
        if self._name not in names:
            raise SchemaUnsupportedError(
                f"a message {' or '.join(sorted(names)) or tag.message_indexes}, and read as {self._name}"
            )
        return self._decoder


def _formats(reader: ReaderSchema, lookup: SchemaLookup) -> _Formats:
    return _Protobuf(reader) if reader.format is Format.PROTOBUF else _Avro(reader, lookup)


def _result(values: Any, reasons: dict[int, str], ids: Any) -> Any:
    errors = (
        [reasons.get(row) for row in range(len(values))] if reasons else pa.nulls(len(values), pa.string())
    )
    columns = [
        values,
        pa.array(errors, pa.string()),
        pa.array(ids.astype(np.int32), mask=(ids == NO_ID) | (ids > SCHEMA_ID_MAX)),
    ]
    return pa.StructArray.from_arrays(columns, names=["value", "error", "schema_id"])
