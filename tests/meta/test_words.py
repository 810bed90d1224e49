"""What must not stand in any file: paths of one machine, hosts that serve packages, notes for later."""

import re
from pathlib import Path

import pytest
from tests.meta.source_tree import ROOT, tracked_files

TEXT_SUFFIXES = {
    *("", ".py", ".md", ".toml", ".yml", ".yaml", ".js", ".json"),
    *(".txt", ".cfg", ".ini", ".sh", ".properties"),
}

FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.$~}-])/(?:home|root|Users|work|workspace|tmp)/"),
    "a host that serves packages": re.compile(
        r"\b(?:registry\.(?:npmjs|yarnpkg)\.\w+|(?:files\.)?pythonhosted\.org|pypi\.org/simple|repo1?\.maven\.\w+)"
    ),
    "work left for later": re.compile(r"\b(?:TODO|FIXME|XXX)\b"),
}
"""Also of other things than source code: a path in a document leads nowhere on another machine."""


def text_files() -> list[Path]:
    return [path for path in tracked_files() if path.suffix in TEXT_SUFFIXES and path.name != "LICENSE"]


def offending_lines(path: Path, pattern: re.Pattern[str]) -> list[str]:
    if path == Path(__file__):
        return []
    lines = path.read_text(errors="replace").splitlines()
    name = path.relative_to(ROOT)
    return [
        f"{name}:{number}: {line.strip()}" for number, line in enumerate(lines, 1) if pattern.search(line)
    ]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds_what_belongs_elsewhere(what: str) -> None:
    found = [line for path in text_files() for line in offending_lines(path, FORBIDDEN[what])]
    assert not found, f"{what}:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "is_forbidden"),
    [
        ("see /home/somebody/notes", True),
        ("see /root/.cache", True),
        ("${HOME}/work/x", False),
        ("docs/work/x", False),
        ("https://kafka.apache.org/work/", False),
    ],
)
def test_paths_of_a_machine_are_recognised(text: str, is_forbidden: bool) -> None:
    assert bool(FORBIDDEN["a path of one machine"].search(text)) is is_forbidden
