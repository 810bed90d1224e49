"""Writing Python source and turning it into a function: the only place of the project that calls ``exec``.

Reading a message by walking its schema costs several interpreted steps per field; the same message read by
straight-line code costs one ``struct`` call per run of fields. The source is made from our own declarations
and from nothing a peer or a user supplies, which is what makes ``exec`` acceptable here (the standard
library's dataclasses do the same for the same reason).
"""

from collections.abc import Callable
from itertools import count
from typing import Any


class Source:
    """Lines of a function being written, the constants it refers to, and fresh names for its variables."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0
        self._numbers = count()
        self.constants: dict[str, Any] = {}

    def line(self, text: str) -> None:
        """Add one line at the current depth."""
        self._lines.append("    " * self._depth + text)

    def open(self, text: str) -> None:
        """Add a line that begins a block, and go into the block."""
        self.line(text)
        self._depth += 1

    def close(self) -> None:
        """Leave the innermost block."""
        self._depth -= 1

    def name(self, stem: str) -> str:
        """A name no other part of this function uses."""
        return f"{stem}_{next(self._numbers)}"

    def constant(self, stem: str, value: object) -> str:
        """The name under which the function will find ``value``."""
        if value is None or isinstance(value, bool | int | str):
            return repr(value)
        if value == ():
            return "()"
        name = self.name(stem)
        self.constants[name] = value
        return name

    def compile(self, function: str, filename: str) -> Callable[..., Any]:
        """The function of that name that the lines define; ``filename`` is what tracebacks show."""
        namespace = dict(self.constants)
        exec(compile("\n".join(self._lines), f"<{filename}>", "exec"), namespace)
        compiled: Callable[..., Any] = namespace[function]
        return compiled
