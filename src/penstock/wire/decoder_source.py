"""Writes the source of the function that reads one message at one version.

The whole message, nested structs included, becomes one function without calls: neighbouring fixed-size fields
are unpacked together, and the first byte of a length, count or tag section that follows them comes along in
the same call. A read beyond the frame raises ``struct.error`` or ``IndexError``, so only slices, which Python
would silently shorten, are checked by hand.

What a hostile peer can cost is bounded by ``budget``: every array element and tagged field takes one from it.
"""

import struct
from collections.abc import Callable
from typing import Any, cast

from penstock.model.errors import DecodeError
from penstock.wire.codegen import Source
from penstock.wire.primitives import DECODING, STRING_BYTES_MAX, Kind
from penstock.wire.schema import Field, Struct

Decoder = Callable[[memoryview, int, int], Any]
"""Reads the message that reaches from a position to the end of the view, with a budget of elements."""


def compile_decoder(message: type[Struct], version: int, *, flexible: bool) -> Decoder:
    """The reader of ``message`` at ``version``; ``flexible`` says whether that version is a flexible one."""
    return _DecoderWriter(version, flexible).write(message)


def minimum_size(kind: "Kind[Any] | type[Struct]", version: int, *, flexible: bool) -> int:
    """The fewest bytes that one value of ``kind`` can take."""
    if isinstance(kind, Kind):
        return kind.size or _length_size(kind, flexible=flexible)
    sizes = (
        _minimum_field_size(field, version, flexible=flexible)
        for field in kind.fields.values()
        if field.versions.include(version) and field.tag is None
    )
    return sum(sizes) + flexible


def _minimum_field_size(field: Field, version: int, *, flexible: bool) -> int:
    if field.is_array:
        return 1 if flexible else 4
    if not isinstance(field.kind, Kind) and field.nulls.include(version):
        return 1
    return minimum_size(field.kind, version, flexible=flexible)


def _length_size(kind: Kind[Any], *, flexible: bool) -> int:
    if flexible:
        return 1
    return 2 if kind.name == "string" else 4


class _DecoderWriter:
    """Writes one reader. Fixed-size reads pile up in ``_run`` until something needs their values."""

    def __init__(self, version: int, flexible: bool) -> None:
        self._version = version
        self._flexible = flexible
        self._source = Source()
        self._run: list[tuple[str, str]] = []

    def write(self, message: type[Struct]) -> Decoder:
        title = f"{message.__name__} version {self._version}"
        source = self._source
        source.constants.update(DECODING)
        source.constants.update(
            new=object.__new__,
            DecodeError=DecodeError,
            StructError=struct.error,
            unpack_from=struct.unpack_from,
        )
        source.open("def decode(view, p, budget):")
        source.line("end = len(view)")
        source.open("try:")
        result = self._struct(message, message.__name__)
        source.close()
        source.open("except (StructError, IndexError) as error:")
        source.line(f"raise DecodeError({f'{title} is cut short'!r}) from error")
        source.close()
        source.open("except UnicodeDecodeError as error:")
        source.line(f"raise DecodeError({f'{title} has a string that is not UTF-8'!r}) from error")
        source.close()
        if not message.may_be_followed_by_bytes:
            source.open("if p != end:")
            source.line(f"raise DecodeError({f'{title} is followed by bytes that belong to no field'!r})")
            source.close()
        source.line(f"return {result}")
        return source.compile("decode", f"decoder of {title}")

    def _struct(self, kind: type[Struct], path: str) -> str:
        values: dict[str, str] = {}
        for name, field in kind.fields.items():
            if field.versions.include(self._version) and field.tag is None:
                values[name] = self._field(field, f"{path}.{name}")
            else:
                values[name] = self._source.constant(name, field.default_value())
        if self._flexible:
            self._tags(kind, path, values)
        self._flush()
        return self._build(kind, values)

    def _build(self, kind: type[Struct], values: dict[str, str]) -> str:
        source = self._source
        made = source.name("struct")
        source.line(f"{made} = new({source.constant('draft', kind.draft)})")
        for name, value in values.items():
            source.line(f"{made}.{name} = {value}")
        source.line(f"{made}.__class__ = {source.constant('frozen', kind)}")
        return made

    def _field(self, field: Field, path: str) -> str:
        nulls = field.nulls.include(self._version)
        if field.is_array:
            return self._array(field, path, nulls)
        if not isinstance(field.kind, Kind):
            return self._nullable_struct(field, path) if nulls else self._struct(field.kind, path)
        if field.kind.is_fixed:
            return self._take(field.kind.code)
        return self._sized(field.kind, path, nulls)

    def _take(self, code: str) -> str:
        name = self._source.name("value")
        self._run.append((code, name))
        return name

    def _flush(self) -> None:
        if not self._run:
            return
        codes = ">" + "".join(code for code, _ in self._run)
        names = "".join(f"{name}, " for _, name in self._run)
        size = struct.calcsize(codes)
        if codes == ">B":
            self._source.line(f"{names[:-2]} = view[p]")
        else:
            unpack = self._source.constant("unpack", struct.Struct(codes).unpack_from)
            self._source.line(f"{names}= {unpack}(view, p)")
        self._source.line(f"p += {size}")
        self._run.clear()

    def _uvarint(self) -> str:
        value = self._take("B")
        self._flush()
        self._source.open(f"if {value} > 127:")
        self._source.line(f"{value}, p = finish_uvarint(view, p, {value})")
        self._source.close()
        return value

    def _length(self, classic_code: str) -> str:
        """A length or count: -1 for null in both encodings."""
        if self._flexible:
            length = self._uvarint()
            self._source.line(f"{length} -= 1")
            return length
        length = self._take(classic_code)
        self._flush()
        return length

    def _sized(self, kind: Kind[Any], path: str, nulls: bool) -> str:
        source = self._source
        length = self._length("h" if kind.name == "string" else "i")
        value, stop = source.name("value"), source.name("stop")
        if nulls:
            source.open(f"if {length} == -1:")
            source.line(f"{value} = None")
            source.close()
            source.open("else:")
        source.line(f"{stop} = p + {length}")
        limit = f" or {length} > {STRING_BYTES_MAX}" if self._flexible and kind.name == "string" else ""
        source.open(f"if {length} < 0 or {stop} > end{limit}:")
        source.line(f"raise wrong_length({path!r}, {length}, end - p)")
        source.close()
        source.line(f"{value} = {_SLICES[kind.name].format(stop=stop)}")
        source.line(f"p = {stop}")
        if nulls:
            source.close()
        return value

    def _array(self, field: Field, path: str, nulls: bool) -> str:
        source = self._source
        count = self._length("i")
        value = source.name("value")
        if nulls:
            source.open(f"if {count} == -1:")
            source.line(f"{value} = None")
            source.close()
            source.open("else:")
        smallest = max(1, minimum_size(field.kind, self._version, flexible=self._flexible))
        source.open(f"if {count} < 0 or {count} * {smallest} > end - p or {count} > budget:")
        source.line(f"raise wrong_count({path!r}, {count}, end - p)")
        source.close()
        source.line(f"budget -= {count}")
        self._elements(field.kind, path, count, value)
        if nulls:
            source.close()
        return value

    def _elements(self, kind: "Kind[Any] | type[Struct]", path: str, count: str, value: str) -> None:
        source = self._source
        if isinstance(kind, Kind) and kind.is_fixed:
            read = f'unpack_from(f">{{{count}}}{kind.code}", view, p)'
            source.line(f"{value} = {f'read_uuids(view, p, {count})' if kind.name == 'uuid' else read}")
            source.line(f"p += {count} * {kind.size}")
            return
        items = source.name("items")
        source.line(f"{items} = []")
        source.open(f"for _ in range({count}):")
        item = self._sized(kind, path, False) if isinstance(kind, Kind) else self._struct(kind, path)
        source.line(f"{items}.append({item})")
        source.close()
        source.line(f"{value} = tuple({items})")

    def _nullable_struct(self, field: Field, path: str) -> str:
        """A marker, and the struct if there is one; what says that there is none differs in tagged fields."""
        source, kind = self._source, cast("type[Struct]", field.kind)
        absent = -1 if field.tag is None else 0
        marker = self._take("b")
        self._flush()
        value = source.name("value")
        source.open(f"if {marker} == 1:")
        source.line(f"{value} = {self._struct(kind, path)}")
        source.close()
        source.open(f"elif {marker} == {absent}:")
        source.line(f"{value} = None")
        source.close()
        source.open("else:")
        source.line(f"raise wrong_marker({path!r}, {marker}, {absent})")
        source.close()
        return value

    def _tags(self, kind: type[Struct], path: str, values: dict[str, str]) -> None:
        """The tagged section that ends every struct of a flexible version."""
        source = self._source
        known = {
            name: field
            for name, field in kind.fields.items()
            if field.versions.include(self._version) and field.tag is not None
        }
        for name in known:
            variable = source.name("tagged")
            source.line(f"{variable} = {values[name]}")
            values[name] = variable
        count = self._uvarint()
        source.open(f"if {count}:")
        source.line(f"budget = check_tag_count({count}, budget)")
        if known:
            self._known_tags(known, path, values, count)
        else:
            source.line(f"p = skip_tags(view, p, {count})")
        source.close()

    def _known_tags(self, known: dict[str, Field], path: str, values: dict[str, str], count: str) -> None:
        source = self._source
        tag, stop = source.name("tag"), source.name("stop")
        source.line(f"{tag} = -1")
        source.open(f"for _ in range({count}):")
        source.line(f"{tag}, p, {stop} = read_tag(view, p, {tag})")
        keyword = "if"
        for name, field in known.items():
            source.open(f"{keyword} {tag} == {field.tag}:")
            value = self._field(field, f"{path}.{name}")
            self._flush()
            source.line(f"{values[name]} = {value}")
            source.open(f"if p != {stop}:")
            source.line(f"raise wrong_length({f'{path}.{name}'!r}, {stop} - p, end - p)")
            source.close()
            source.close()
            keyword = "elif"
        source.open("else:")
        source.line(f"p = skip_tag({tag}, p, {stop})")
        source.close()
        source.close()


_SLICES = {
    "string": 'str(view[p:{stop}], "utf-8")',
    "bytes": "bytes(view[p:{stop}])",
    "records": "view[p:{stop}]",
}
