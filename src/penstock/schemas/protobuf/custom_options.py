"""Options that a schema's imports define: what is written becomes what a descriptor has, and back.

An option is an extension of one of Protobuf's messages of options. Where its definition is imported, its
value is put into the descriptor, as protoc does; where it is not, the option stays as it was written.
"""

from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto, UninterpretedOption
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from penstock.schemas.errors import InvalidSchema
from penstock.schemas.protobuf.escapes import escaped
from penstock.schemas.protobuf.linking import Symbols
from penstock.schemas.protobuf.options import option_name


def interpret(file: FileDescriptorProto, pool: DescriptorPool, symbols: Symbols) -> None:
    """Put the custom options of a file into their places, where their definitions are known."""
    _Interpreter(pool, symbols).visit(file, file.package)


def known_options(options: Message, pool: DescriptorPool) -> list[tuple[str, Any, Any]]:
    """The options in a message of options: what each is called, its field, and its value."""
    shown = _in_pool(options, pool)
    return [(_shown_name(field), field, value) for field, value in shown.ListFields()]


class _Interpreter:
    def __init__(self, pool: DescriptorPool, symbols: Symbols) -> None:
        self._pool = pool
        self._symbols = symbols

    def visit(self, declared: Any, scope: str) -> None:
        """A declaration and all within it."""
        if declared.HasField("options") and declared.options.uninterpreted_option:
            self._interpret(declared.options, scope)
        for field, value in declared.ListFields():
            if field.name != "options" and field.message_type is not None and field.is_repeated:
                for each in value:
                    if "options" in each.DESCRIPTOR.fields_by_name:
                        self.visit(each, f"{scope}.{each.name}" if scope and hasattr(each, "name") else scope)

    def _interpret(self, options: Any, scope: str) -> None:
        unknown = []
        for option in options.uninterpreted_option:
            text = self._as_text(option, scope)
            if text is None:
                unknown.append(option)
                continue
            known = _in_pool(type(options)(), self._pool)
            try:
                text_format.Merge(text, known, descriptor_pool=self._pool)
            except text_format.ParseError as error:
                raise InvalidSchema(
                    f".proto: option {option_name(option)} has a wrong value ({error})."
                ) from error
            options.MergeFromString(known.SerializeToString(deterministic=True))
        options.ClearField("uninterpreted_option")
        options.uninterpreted_option.extend(unknown)

    def _as_text(self, option: UninterpretedOption, scope: str) -> str | None:
        """An option in the text format of messages; None if nobody defines it."""
        names = []
        for part in option.name:
            name: str | None = part.name_part
            if part.is_extension:
                name = self._symbols.found_extension(part.name_part, scope)
            if name is None:
                return None
            names.append(f"[{name}]" if part.is_extension else name)
        text = _value_text(option)
        return " { ".join(names) + text + " }" * (len(names) - 1)


def _value_text(option: UninterpretedOption) -> str:
    if option.HasField("aggregate_value"):
        return f" {{ {option.aggregate_value} }}"
    if option.HasField("string_value"):
        return f': "{escaped(option.string_value)}"'
    if option.HasField("identifier_value"):
        return f": {option.identifier_value}"
    if option.HasField("double_value"):
        return f": {option.double_value!r}"
    return f": {option.negative_int_value or option.positive_int_value}"


def _in_pool(options: Message, pool: DescriptorPool) -> Message:
    """The same options as a message that knows the extensions of a pool, if the pool has any."""
    try:
        descriptor = pool.FindMessageTypeByName(options.DESCRIPTOR.full_name)
    except KeyError:
        return options
    known = GetMessageClass(descriptor)()
    known.MergeFromString(options.SerializeToString())
    return known


def _shown_name(field: Any) -> str:
    return f"({field.full_name})" if field.is_extension else str(field.name)
