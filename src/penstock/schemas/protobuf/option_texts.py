"""Options in a descriptor as they stand in a .proto file."""

from collections.abc import Iterator
from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import UninterpretedOption
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message

from penstock.schemas.protobuf.custom_options import known_options
from penstock.schemas.protobuf.escapes import escaped, quoted
from penstock.schemas.protobuf.options import option_name

_NEVER_WRITTEN = frozenset({"uninterpreted_option", "map_entry"})


def option_texts(options: Message, pool: DescriptorPool) -> list[str]:
    """``name = value`` for every option, in one order."""
    found = []
    for name, field, value in known_options(options, pool):
        if name not in _NEVER_WRITTEN:
            found += [f"{each} = {text}" for each, text in _assignments(name, field, value)]
    custom: list[UninterpretedOption] = list(getattr(options, "uninterpreted_option", ()))
    return found + [f"{option_name(option)} = {_as_written(option)}" for option in custom]


def _assignments(name: str, field: FieldDescriptor, value: Any) -> Iterator[tuple[str, str]]:
    if field.is_repeated:
        for each in value:
            yield name, _value_text(field, each)
    elif field.message_type is not None and field.message_type.full_name == "google.protobuf.FeatureSet":
        for inner, part in value.ListFields():
            inner_name = f"({inner.full_name})" if inner.is_extension else inner.name
            yield from _assignments(f"{name}.{inner_name}", inner, part)
    else:
        yield name, _value_text(field, value)


def _value_text(field: FieldDescriptor, value: Any) -> str:
    if field.message_type is not None:
        return f"{{ {text_format.MessageToString(value, as_one_line=True)} }}"
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known is not None else str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return f'"{escaped(value)}"'
    return quoted(value) if isinstance(value, str) else str(value)


def _as_written(option: UninterpretedOption) -> str:
    if option.HasField("aggregate_value"):
        return f"{{ {option.aggregate_value} }}"
    if option.HasField("string_value"):
        return f'"{escaped(option.string_value)}"'
    if option.HasField("identifier_value"):
        return option.identifier_value
    return str(option.double_value or option.negative_int_value or option.positive_int_value)
