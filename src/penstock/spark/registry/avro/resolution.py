"""Whether what a writer means can be read as what a reader means, beyond what fastavro looks at.

fastavro resolves the types of the specification record by record. It does not see that milliseconds are no
microseconds, since both are longs, nor does it bound arrays whose items take no bytes.
"""

from penstock.schemas.avro.schema import (
    NULL,
    Array,
    AvroType,
    Enumeration,
    Fixed,
    Logical,
    Map,
    Primitive,
    Record,
    Union,
)
from penstock.spark.registry.errors import SchemaUnsupportedError


def check_meanings(writer: AvroType, reader: AvroType, path: str = "") -> None:
    """Refuse a reader that would take the same number for something else."""
    match writer, reader:
        case (Primitive() | Fixed(), Primitive() | Fixed()):
            _check_logical(writer.logical, reader.logical, path)
        case Array(), Array():
            check_meanings(writer.items, reader.items, path)
        case Map(), Map():
            check_meanings(writer.values, reader.values, path)
        case Record(), Record():
            for field in reader.fields:
                for written in writer.fields:
                    if written.name in (field.name, *field.aliases):
                        check_meanings(
                            written.type, field.type, f"{path}.{field.name}" if path else field.name
                        )
        case Union(), _:
            for branch in writer.branches:
                check_meanings(branch, reader, path)
        case _, Union() if fitting := [b for b in reader.branches if _is_same_kind(writer, b)]:
            check_meanings(writer, fitting[0], path)


def check_bounded(avro: AvroType) -> None:
    """Refuse arrays whose items take no bytes: a few bytes could then stand for any number of them."""
    match avro:
        case Array():
            if not _takes_bytes(avro.items):
                raise SchemaUnsupportedError("An Avro array whose items take no bytes is not read.")
            check_bounded(avro.items)
        case Map():
            check_bounded(avro.values)
        case Record():
            for field in avro.fields:
                check_bounded(field.type)
        case Union():
            for branch in avro.branches:
                check_bounded(branch)


def _takes_bytes(avro: AvroType) -> bool:
    match avro:
        case Record():
            return any(_takes_bytes(field.type) for field in avro.fields)
        case Fixed():
            return avro.size > 0
    return avro != NULL


def _is_same_kind(one: AvroType, other: AvroType) -> bool:
    if isinstance(one, Primitive) and isinstance(other, Primitive):
        return one.kind == other.kind
    if isinstance(one, Fixed | Enumeration | Record) and isinstance(other, type(one)):
        return one.name.rpartition(".")[2] == other.name.rpartition(".")[2]
    return type(one) is type(other)


def _check_logical(writer: Logical | None, reader: Logical | None, path: str) -> None:
    # With a meaning on one side only, the number is what both mean; the specification reads it as it is.
    if writer is None or reader is None or writer == reader:
        return
    raise SchemaUnsupportedError(
        f"{path or 'the record'}: written as {_words(writer)}, read as {_words(reader)}"
    )


def _words(logical: Logical) -> str:
    return f"decimal({logical.precision},{logical.scale})" if logical.name == "decimal" else logical.name
