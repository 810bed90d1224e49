"""What is wrong with a pipeline file, and where: file, line, column, a sentence and what to write instead.

Nothing stops at the first mistake: readers add to ``Problems`` and go on, so that a file is mended in one go.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from penstock.model.errors import UsageError


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file; lines and columns count from 1, and a line of 0 means the file as a whole."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake: where it is, what it is, and what to write instead, if that is known."""

    place: Place
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.message}{f' {self.hint}' if self.hint else ''}"


class PipelineFileError(UsageError):
    """A pipeline file that cannot be run as it is; holds every problem that was found in it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(map(str, self.problems)))


class Problems:
    """Collects mistakes while a file is read."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, place: Place, message: str, *, hint: str = "") -> None:
        """Note one mistake; the same one is noted once."""
        problem = Problem(place, message, hint)
        if problem not in self._found:
            self._found.append(problem)

    def raise_if_any(self) -> None:
        """Fail with everything that was found."""
        if self._found:
            raise PipelineFileError(self._found)


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant; empty when none is near."""
    words = sorted(known)
    lowered = {each.lower(): each for each in reversed(words)}
    found = get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return lowered[found[0]] if found else ""


def suggestion(word: str, known: Iterable[str], *, limit: int = 12) -> str:
    """What to write in place of an unknown word: the nearest known one, or all of them where they are few."""
    words = list(known)
    if near := nearest(word, words):
        return f"Did you mean {near!r}?"
    if words and len(words) <= limit:
        return f"Write one of: {', '.join(words)}."
    return ""
