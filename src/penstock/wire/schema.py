"""The language messages are declared in: one class per struct, version ranges on its fields.

::

    class FetchTopic(Struct):
        \"\"\"A topic to fetch from; by name until version 12, by id since.\"\"\"

        topic: str = field(STRING, "0-12")
        topic_id: TopicId = field(TOPIC_ID, "13+")
        partitions: tuple[FetchPartition, ...] = array(FetchPartition)

Every field has a default, which is also what it reads as at a version that does not carry it; a field set at
a version that does not carry it is left out. Structs are frozen, slotted and keyword-only like the values of
the rest of the project, but made by a metaclass rather than by ``dataclass``: a hundred dataclasses would
cost 80 ms at every start, and a frozen one takes five times as long to fill (see ``_Meta``).
"""

from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, cast, dataclass_transform, overload

from penstock.wire.codegen import Source
from penstock.wire.primitives import Kind

T = TypeVar("T")
S = TypeVar("S", bound="Struct")

_NEVER = ""


class Versions(NamedTuple):
    """A range of versions, both ends included."""

    lowest: int
    highest: int

    def include(self, version: int) -> bool:
        """Whether ``version`` lies in the range."""
        return self.lowest <= version <= self.highest


def parse_versions(text: str) -> Versions:
    """``"3+"``, ``"0-12"`` or ``"4"`` as a range; an empty text holds no version."""
    if text == _NEVER:
        return Versions(1, 0)
    if text.endswith("+"):
        return Versions(int(text[:-1]), 0x7FFF)
    lowest, _, highest = text.partition("-")
    return Versions(int(lowest), int(highest or lowest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field as declared: what it holds, when it exists, when it may be null, and its tag, if any."""

    kind: "Kind[Any] | type[Struct]"
    versions: Versions
    nulls: Versions
    default: Any = None
    tag: int | None = None
    is_array: bool = False

    def default_value(self) -> Any:
        """The default; a nested struct's is built when first asked for."""
        if self.default is not _OWN_DEFAULT or isinstance(self.kind, Kind):
            return self.default
        return _default_struct(self.kind)


_OWN_DEFAULT: Any = object()


def field(kind: Kind[T], versions: str = "0+", *, default: T | None = None, tag: int | None = None) -> T:
    """A value that is always there."""
    value = kind.default if default is None else default
    return cast(T, _declare(kind, versions, _NEVER, default=value, tag=tag))


def nullable(
    kind: Kind[T],
    versions: str = "0+",
    *,
    nulls: str = "0+",
    default: T | None = None,
    tag: int | None = None,
) -> T | None:
    """A value that may be null, at the versions of ``nulls``."""
    return cast("T | None", _declare(kind, versions, nulls, default=default, tag=tag))


@overload
def array(element: type[S], versions: str = "0+", *, tag: int | None = None) -> tuple[S, ...]: ...
@overload
def array(element: Kind[T], versions: str = "0+", *, tag: int | None = None) -> tuple[T, ...]: ...
def array(element: Any, versions: str = "0+", *, tag: int | None = None) -> tuple[Any, ...]:
    """Any number of structs or plain values; empty by default."""
    declared = _declare(element, versions, _NEVER, default=(), tag=tag, is_array=True)
    return cast("tuple[Any, ...]", declared)


@overload
def nullable_array(
    element: type[S],
    versions: str = "0+",
    *,
    nulls: str = "0+",
    default: tuple[()] | None = (),
    tag: int | None = None,
) -> tuple[S, ...] | None: ...
@overload
def nullable_array(
    element: Kind[T],
    versions: str = "0+",
    *,
    nulls: str = "0+",
    default: tuple[()] | None = (),
    tag: int | None = None,
) -> tuple[T, ...] | None: ...
def nullable_array(
    element: Any,
    versions: str = "0+",
    *,
    nulls: str = "0+",
    default: tuple[()] | None = (),
    tag: int | None = None,
) -> tuple[Any, ...] | None:
    """An array that may be null, which often means all, or not asked; empty by default."""
    declared = _declare(element, versions, nulls, default=default, tag=tag, is_array=True)
    return cast("tuple[Any, ...] | None", declared)


def struct(kind: type[S], versions: str = "0+", *, tag: int | None = None) -> S:
    """A struct inside this one; by default one of that kind with all its own defaults."""
    return cast(S, _declare(kind, versions, _NEVER, default=_OWN_DEFAULT, tag=tag))


def nullable_struct(kind: type[S], versions: str = "0+", *, tag: int | None = None) -> S | None:
    """A struct that may be absent, and is by default."""
    return cast("S | None", _declare(kind, versions, "0+", default=None, tag=tag))


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=True)
class _Meta(type):
    """Makes a frozen class from the declared fields, and beside it a *draft*: the same slots, not frozen.

    Code that fills a struct makes a draft, assigns its slots (a few nanoseconds each) and then turns it into
    the frozen class by assigning ``__class__``, which Python allows since both have the same layout. The
    usual way, ``object.__setattr__`` for every field, takes five times as long.
    """

    fields: Mapping[str, Field]
    draft: type

    def __new__(meta, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> "_Meta":
        fields = {key: value for key, value in namespace.items() if isinstance(value, Field)}
        own = {key: value for key, value in namespace.items() if key not in fields}
        slots = tuple(fields)
        cls = super().__new__(meta, name, bases, own | {"__slots__": slots})
        cls.fields = fields
        if bases:
            cls.draft = type.__new__(meta, f"{name}Draft", bases, {"__slots__": slots})
            type.__setattr__(cls, "__setattr__", _refuse_change)
            type.__setattr__(cls, "__delattr__", _refuse_change)
        return cls


class Struct(metaclass=_Meta):
    """The base of every message and of every struct inside one."""

    #: Whether clients are known to send more than the message; else more is an error.
    may_be_followed_by_bytes: ClassVar[bool] = False

    def __new__(cls, **values: Any) -> Self:
        """Compile the constructor when the first value is made: most classes of a process never need it."""
        type.__setattr__(cls, "__new__", _compile_constructor(cls))
        return cls(**values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in type(self).fields)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in type(self).fields))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).fields)
        return f"{type(self).__name__}({values})"


def replace(original: S, **changes: Any) -> S:
    """A copy of ``original`` with some fields changed."""
    values = {name: getattr(original, name) for name in type(original).fields}
    return type(original)(**values | changes)


def _declare(
    kind: "Kind[Any] | type[Struct]",
    versions: str,
    nulls: str,
    *,
    default: Any,
    tag: int | None = None,
    is_array: bool = False,
) -> Field:
    return Field(
        kind=kind,
        versions=parse_versions(versions),
        nulls=parse_versions(nulls),
        default=default,
        tag=tag,
        is_array=is_array,
    )


@cache
def _default_struct(kind: "type[Struct]") -> "Struct":
    """One instance for all, so that writers recognise a default by identity."""
    return kind()


def _refuse_change(self: Struct, name: str, value: object = None) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r} of {type(self).__name__}")


def _compile_constructor(cls: type[Struct]) -> Any:
    source = Source()
    source.constants.update(new=object.__new__, draft=cls.draft)
    defaults = [f"{name}={source.constant(name, f.default_value())}" for name, f in cls.fields.items()]
    source.open(f"def __new__(cls{', *, ' if defaults else ''}{', '.join(defaults)}):")
    source.line("self = new(draft)")
    for name in cls.fields:
        source.line(f"self.{name} = {name}")
    source.line("self.__class__ = cls")
    source.line("return self")
    return staticmethod(source.compile("__new__", f"constructor of {cls.__name__}"))
