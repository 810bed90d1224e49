"""The blocks of code on the pages that users read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "OPERATIONS.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]

EXECUTED = ("python", "sh", "console")
SHOWN = ("text", "json", "properties", "yaml", "toml")
"""Output and configuration: for people to read, not for us to run."""

_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block, and where it stands."""

    page: Path
    line: int
    """Of its first line of code, counted from 1."""

    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    text = page.read_text()
    return [
        Block(page=page, line=text.count("\n", 0, match.start(2)) + 1, language=match[1], text=match[2])
        for match in _BLOCK.finditer(text)
    ]


def runs_of(page: Path) -> Iterator[tuple[str, list[Block]]]:
    """Blocks that are executed, those of the same language that follow each other together."""
    executed = [block for block in blocks_of(page) if block.language in EXECUTED]
    for language, blocks in groupby(executed, key=lambda block: block.language):
        yield language, list(blocks)
