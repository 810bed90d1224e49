"""Writes the source of the function that writes one message at one version.

As in the reader, the whole message becomes one function, and neighbouring fixed-size values are packed by one
call. Record payloads are not written: their length is, and the payload itself goes into the list of parts
for whoever sends them, so that a log's bytes can travel from file to socket untouched.
"""

import struct
from collections.abc import Callable
from typing import Any

from penstock.model.errors import InvariantError
from penstock.wire.codegen import Source
from penstock.wire.primitives import ENCODING, Kind, encode_uvarint
from penstock.wire.schema import Field, Struct

Encoder = Callable[[Any, list[Any]], int]
"""Appends a message to the last part, a bytearray; record payloads and further bytearrays follow by turns.

Returns the size of the payloads, which the bytearrays do not hold.
"""


def compile_encoder(message: type[Struct], version: int, *, flexible: bool) -> Encoder:
    """The writer of ``message`` at ``version``; ``flexible`` says whether that version is a flexible one."""
    return _EncoderWriter(version, flexible).write(message)


class _EncoderWriter:
    """Writes one writer. Fixed-size values pile up in ``_run`` until something of unknown size follows."""

    def __init__(self, version: int, flexible: bool) -> None:
        self._version = version
        self._flexible = flexible
        self._source = Source()
        self._run: list[tuple[str, str]] = []

    def write(self, message: type[Struct]) -> Encoder:
        title = f"{message.__name__} version {self._version}"
        source = self._source
        source.constants.update(ENCODING)
        source.constants.update(InvariantError=InvariantError, StructError=struct.error, pack=struct.pack)
        source.open("def encode(message, parts):")
        source.line("out = parts[-1]")
        source.line("payload_bytes = 0")
        source.open("try:")
        self._struct(message, "message")
        self._flush()
        source.line("pass")
        source.close()
        source.open("except (StructError, AttributeError, TypeError, UnicodeEncodeError) as error:")
        source.line(f"raise InvariantError({f'{title} cannot be written: '!r} + str(error)) from error")
        source.close()
        source.line("return payload_bytes")
        return source.compile("encode", f"encoder of {title}")

    def _struct(self, kind: type[Struct], value: str) -> None:
        present = {name: f for name, f in kind.fields.items() if f.versions.include(self._version)}
        for name, field in present.items():
            if field.tag is None:
                self._field(field, f"{value}.{name}")
        if self._flexible:
            self._tags({name: f for name, f in present.items() if f.tag is not None}, value)

    def _field(self, field: Field, value: str) -> None:
        nulls = field.nulls.include(self._version)
        if isinstance(field.kind, Kind) and field.kind.is_fixed and not field.is_array:
            self._run.append((field.kind.code, value))
        elif nulls:
            self._nullable(field, value)
        else:
            self._present(field, value)

    def _present(self, field: Field, value: str) -> None:
        if field.is_array:
            self._array(field.kind, value)
        elif isinstance(field.kind, Kind):
            self._sized(field.kind, value)
        else:
            self._struct(field.kind, self._bind(value))

    def _nullable(self, field: Field, value: str) -> None:
        source = self._source
        bound = self._bind(value)
        self._flush()
        source.open(f"if {bound} is None:")
        self._run.append(self._null(field))
        self._flush()
        source.close()
        source.open("else:")
        if _is_struct(field):
            self._run.append(("b", "1"))
        self._present(field, bound)
        self._flush()
        source.close()

    def _null(self, field: Field) -> tuple[str, str]:
        if _is_struct(field):
            return "b", "-1" if field.tag is None else "0"
        if self._flexible:
            return "B", "0"
        return ("h" if _is_string(field) else "i"), "-1"

    def _bind(self, value: str) -> str:
        name = self._source.name("value")
        self._source.line(f"{name} = {value}")
        return name

    def _flush(self) -> None:
        if not self._run:
            return
        codes = ">" + "".join(code for code, _ in self._run)
        values = ", ".join(value for _, value in self._run)
        self._run.clear()
        if codes == ">B":
            self._source.line(f"out.append({values})")
        else:
            pack = self._source.constant("pack", struct.Struct(codes).pack)
            self._source.line(f"out += {pack}({values})")

    def _length(self, length: str, classic_code: str, long_form: str = "encode_uvarint") -> None:
        if not self._flexible:
            self._run.append((classic_code, length))
            self._flush()
            return
        self._flush()
        self._source.open(f"if {length} < 127:")
        self._source.line(f"out.append({length} + 1)")
        self._source.close()
        self._source.open("else:")
        self._source.line(f"out += {long_form}({length} + 1)")
        self._source.close()

    def _sized(self, kind: Kind[Any], value: str) -> None:
        if kind.name == "records":
            self._records(value)
            return
        is_string = kind.name == "string"
        body = self._bind(f"{value}.encode()" if is_string else value)
        length = self._bind(f"len({body})")
        if is_string:
            self._length(length, "h", "encode_string_length")
        else:
            self._length(length, "i")
        self._source.line(f"out += {body}")

    def _records(self, value: str) -> None:
        source = self._source
        body = self._bind(value)
        length = self._bind(f"payload_size({body})")
        self._length(length, "i")
        source.open(f"if {length}:")
        source.line(f"payload_bytes += {length}")
        source.line(f"parts.append({body})")
        source.line("out = bytearray()")
        source.line("parts.append(out)")
        source.close()

    def _array(self, kind: "Kind[Any] | type[Struct]", value: str) -> None:
        source = self._source
        items = self._bind(value)
        count = self._bind(f"len({items})")
        self._length(count, "i")
        if isinstance(kind, Kind) and kind.is_fixed and kind.name != "uuid":
            source.line(f'out += pack(f">{{{count}}}{kind.code}", *{items})')
            return
        item = source.name("item")
        source.open(f"for {item} in {items}:")
        if not isinstance(kind, Kind):
            self._struct(kind, item)
        elif kind.is_fixed:
            self._run.append((kind.code, item))
        else:
            self._sized(kind, item)
        self._flush()
        source.line("pass")
        source.close()

    def _tags(self, tagged: dict[str, Field], value: str) -> None:
        """The tagged section that ends every struct of a flexible version; defaults are left out of it."""
        if not tagged:
            self._run.append(("B", "0"))
            return
        source = self._source
        self._flush()
        count = self._bind("0")
        bound = {name: self._bind(f"{value}.{name}") for name in tagged}
        conditions = {name: self._differs(bound[name], field) for name, field in tagged.items()}
        for condition in conditions.values():
            source.open(f"if {condition}:")
            source.line(f"{count} += 1")
            source.close()
        source.line(f"out.append({count})")
        source.open(f"if {count}:")
        for name, field in sorted(tagged.items(), key=lambda item: item[1].tag or 0):
            source.open(f"if {conditions[name]}:")
            self._tag(field, bound[name])
            source.close()
        source.close()

    def _differs(self, value: str, field: Field) -> str:
        default = field.default_value()
        constant = self._source.constant("default", default)
        if default is None:
            # Kafka's own default of a tagged struct is one with all its defaults: null has to be said.
            return "True" if _is_struct(field) else f"{value} is not None"
        if isinstance(default, bool | int | str):
            return f"{value} != {constant}"
        if default == ():
            return f"{value} != ()"
        return f"{value} is not {constant} and {value} != {constant}"

    def _tag(self, field: Field, value: str) -> None:
        source = self._source
        outer = self._bind("out")
        source.line("out = bytearray()")
        self._field(field, value)
        self._flush()
        body = self._bind("out")
        source.line(f"out = {outer}")
        source.line(f"out += {source.constant('tag', encode_uvarint(field.tag or 0))}")
        source.line(f"out += encode_uvarint(len({body}))")
        source.line(f"out += {body}")


def _is_struct(field: Field) -> bool:
    return not field.is_array and not isinstance(field.kind, Kind)


def _is_string(field: Field) -> bool:
    return not field.is_array and isinstance(field.kind, Kind) and field.kind.name == "string"
