"""How a mistake is planted: functions are replaced for a while, and come back whatever happens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from penstock.storage.memory_filesystem import MemoryFileSystem

Function = Callable[..., Any]


class Swap(NamedTuple):
    """A function to be replaced: where it is looked up, and what comes of it."""

    owner: object
    name: str
    make: Callable[[Function], Function]


class Bug(NamedTuple):
    """A mistake."""

    what: str
    swaps: tuple[Swap, ...]
    workload: str = "storage"
    """The kind of plan that can notice it."""


@contextmanager
def replaced(swap: Swap) -> Iterator[None]:
    """Have one function replaced inside the block."""
    original = vars(swap.owner)[swap.name]
    function = original.__func__ if isinstance(original, classmethod) else original
    made: Any = swap.make(function)
    setattr(swap.owner, swap.name, classmethod(made) if isinstance(original, classmethod) else made)
    try:
        yield
    finally:
        setattr(swap.owner, swap.name, original)


def nothing(original: Function) -> Function:
    """A function that does nothing."""

    def replacement(*arguments: Any, **options: Any) -> None:
        return None

    return replacement


def always(value: object) -> Callable[[Function], Function]:
    """A function that gives the same answer to everything."""

    def make(original: Function) -> Function:
        def replacement(*arguments: Any, **options: Any) -> object:
            return value

        return replacement

    return make


def without_directory_sync(original: Function) -> Function:
    """The function, with directories never synced while it runs."""

    def replacement(*arguments: Any, **options: Any) -> object:
        with replaced(Swap(MemoryFileSystem, "sync_directory", nothing)):
            return original(*arguments, **options)

    return replacement
