"""Planting bugs: a function is replaced for the time of a run, so that the code itself has no switches."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

Function = Any
"""Also a property: whatever stands under a name in a class or module."""


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
    """The kind of plan that can notice it, where there are several."""


@contextmanager
def planted(bug: Bug | None) -> Iterator[None]:
    """Have the bug, or none, inside the block."""
    with ExitStack() as stack:
        for swap in bug.swaps if bug else ():
            stack.enter_context(replaced(swap))
        yield


def always(value: object) -> Callable[[Function], Function]:
    """Answer the same, whatever is asked."""

    def make(original: Function) -> Function:
        def replacement(*arguments: Any, **options: Any) -> object:
            return value

        return replacement

    return make


def nothing(original: Function) -> Function:
    """Do nothing."""
    return always(None)(original)


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
