"""Reads templates that lie beside this file, and fills in words that stand between two ``@``.

Nothing cleverer: compose files, charts and alerts have their own ``$`` and ``{{ }}``, which pass untouched.
Where a line is one such word only, the value may have several lines, or none, and then the line goes.
"""

import re
from collections.abc import Mapping
from importlib.resources import files

from penstock.cli.generate.plan import FIXED

_WORD = re.compile(r"@([a-z_]+)@")
_LINE = re.compile(r"^@([a-z_]+)@\n", re.MULTILINE)


def filled(path: str, words: Mapping[str, str] | None = None) -> str:
    """The template at ``path``, with its words; ``KeyError`` names one that has no value."""
    values = {**FIXED, **(words or {})}
    text = _LINE.sub(lambda match: _whole_lines(values[match[1]]), template(path))
    return _WORD.sub(lambda match: values[match[1]], text)


def template(path: str) -> str:
    """The template at ``path`` as it lies there."""
    return files("penstock.cli.generate").joinpath("templates", path).read_text(encoding="utf-8")


def _whole_lines(value: str) -> str:
    return value.rstrip("\n") + "\n" if value else ""
