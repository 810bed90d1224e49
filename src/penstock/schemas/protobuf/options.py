"""Options of .proto files: read as they are written, and set where they are known.

The options that Protobuf itself defines have fields in the descriptors. Those that somebody else defined as
extensions stay as they are written until ``custom_options`` knows what they extend.
"""

from collections.abc import Sequence
from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FieldOptions, UninterpretedOption

from penstock.schemas.errors import InvalidSchema
from penstock.schemas.protobuf.tokens import Reader

_INTEGERS = frozenset(
    {
        *(FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64),
        *(FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64),
    }
)


def read_option(words: Reader) -> UninterpretedOption:
    """``name = value``, up to what ends it."""
    option = UninterpretedOption()
    _read_name(words, option)
    words.expect("=")
    if words.peek() == "{" and words.is_at("sign"):
        words.take()
        option.aggregate_value = " ".join(token.written() for token in words.skip_to("}"))
    elif words.is_at("text"):
        option.string_value = words.string_bytes()
    elif words.is_at("name"):
        option.identifier_value = words.name()
    else:
        _read_number(words, option)
    return option


def set_options(options: Any, given: Sequence[UninterpretedOption]) -> None:
    """Put options where they belong in a message of options; custom ones are kept as they are."""
    for option in given:
        if any(part.is_extension for part in option.name) or not _set_known(options, option):
            options.uninterpreted_option.append(option)


def option_name(option: UninterpretedOption) -> str:
    """As it is written."""
    return ".".join(f"({part.name_part})" if part.is_extension else part.name_part for part in option.name)


def _read_name(words: Reader, option: UninterpretedOption) -> None:
    while words.peek() != "=":
        if words.take_if("("):
            option.name.add(name_part=words.name(), is_extension=True)
            words.expect(")")
        else:
            for part in words.name().removeprefix(".").split("."):
                option.name.add(name_part=part, is_extension=False)
        words.take_if(".")


def _read_number(words: Reader, option: UninterpretedOption) -> None:
    line = words.line()
    is_negative = bool(words.take_if("-"))
    words.take_if("+")
    word = words.take().text
    try:
        number = _number(word)
    except ValueError:
        raise InvalidSchema(f".proto, line {line}: {word!r} is no value of an option.") from None
    if isinstance(number, float) or abs(number) >= 2**64 or (is_negative and number > 2**63):
        option.double_value = -float(number) if is_negative else float(number)
    elif is_negative:
        option.negative_int_value = -number
    else:
        option.positive_int_value = number


def _number(word: str) -> int | float:
    if word in ("inf", "nan"):
        return float(word)
    if not word.lower().startswith("0x") and any(sign in word.lower() for sign in ".ef"):
        return float(word.rstrip("fF"))
    return int(word, 8 if _is_octal(word) else 0)


def _is_octal(word: str) -> bool:
    return len(word) > 1 and word.startswith("0") and word.isdecimal()


def _set_known(options: Any, option: UninterpretedOption) -> bool:
    """Whether it is one of Protobuf's own, which is then set."""
    target = options
    for part in option.name[:-1]:
        field = target.DESCRIPTOR.fields_by_name.get(part.name_part)
        if field is None or field.message_type is None or field.is_repeated:
            return False
        target = getattr(target, part.name_part)
    field = target.DESCRIPTOR.fields_by_name.get(option.name[-1].name_part)
    if field is None:
        return False
    if field.GetOptions().retention == FieldOptions.RETENTION_SOURCE:
        return True  # Meant for who reads the source; descriptors do not have it.
    try:
        _set(target, field, option)
    except (TypeError, ValueError, text_format.ParseError) as error:
        raise InvalidSchema(f".proto: option {option_name(option)} has a wrong value ({error}).") from error
    return True


def _set(target: Any, field: FieldDescriptor, option: UninterpretedOption) -> None:
    if field.message_type is not None:
        inner = getattr(target, field.name).add() if field.is_repeated else getattr(target, field.name)
        text_format.Merge(option.aggregate_value, inner)
    elif field.is_repeated:
        getattr(target, field.name).append(_value(field, option))
    else:
        setattr(target, field.name, _value(field, option))


def _value(field: FieldDescriptor, option: UninterpretedOption) -> Any:
    if field.enum_type is not None:
        known = field.enum_type.values_by_name.get(option.identifier_value)
        if known is None:
            raise ValueError(
                f"{option.identifier_value!r} is none of {', '.join(field.enum_type.values_by_name)}"
            )
        return known.number
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        if option.identifier_value not in ("true", "false"):
            raise ValueError("it is true or false")
        return option.identifier_value == "true"
    if field.cpp_type in _INTEGERS:
        return option.negative_int_value or option.positive_int_value
    if not option.HasField("string_value"):
        raise ValueError("it is a text")
    return option.string_value.decode()
