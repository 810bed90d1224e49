"""Reads a Dockerfile: its instructions, one after the other, stage by stage."""

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction, on one line."""

    word: str
    rest: str

    @property
    def exec_form(self) -> list[str] | None:
        """The words of a command that no shell sees; None when a shell would."""
        if not self.rest.startswith("["):
            return None
        words = json.loads(self.rest)
        assert all(isinstance(word, str) for word in words)
        return list(words)


@dataclass(slots=True, kw_only=True)
class Stage:
    """What begins with FROM."""

    base: str
    name: str
    instructions: list[Instruction] = field(default_factory=list)

    def all(self, word: str) -> list[Instruction]:
        return [each for each in self.instructions if each.word == word]

    def only(self, word: str) -> Instruction:
        (found,) = self.all(word)
        return found

    @property
    def environment(self) -> dict[str, str]:
        pairs = [word for each in self.all("ENV") for word in shlex.split(each.rest)]
        return dict(pair.split("=", 1) for pair in pairs)


def stages_of(path: Path) -> list[Stage]:
    """All stages of a Dockerfile."""
    text = re.sub(r"^#.*\n", "", path.read_text(), flags=re.MULTILINE)
    stages: list[Stage] = []
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if not line.strip():
            continue
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            stages.append(Stage(base=base, name=name))
        else:
            stages[-1].instructions.append(Instruction(word=word, rest=rest.strip()))
    return stages
