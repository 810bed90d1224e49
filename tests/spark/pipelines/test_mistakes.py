"""Every mistake in a pipeline file is told with its line and column, a sentence, and what to write.

The mistakes are in ``mistakes.txt``.
"""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.problems import PipelineFileError, Problem

HEAD = "name: p\nstorage: s\nsources:\n  clicks: {options: {subscribe: clicks}}\n"


class Mistake(NamedTuple):
    text: str
    message: str
    hint: str


def mistakes() -> dict[str, Mistake]:
    text = Path(__file__).with_name("mistakes.txt").read_text()
    found = re.findall(r"^=== (.*)\n((?:.*\n)*?)--- (.*?)(?: \| (.*))?$", text, re.MULTILINE)
    return {name: Mistake(body, message, hint) for name, body, message, hint in found}


MISTAKES = mistakes()


def problems_of(tmp_path: Path, text: str) -> tuple[str, tuple[Problem, ...]]:
    file = tmp_path / "p.yml"
    file.write_text(text)
    (tmp_path / "here.py").write_text("class V: ...")
    with pytest.raises(PipelineFileError) as caught:
        load_pipeline(file, environment={})
    return str(file), caught.value.problems


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_told_at_its_place_with_what_to_write(name: str, tmp_path: Path) -> None:
    mistake = MISTAKES[name]
    before, _, after = mistake.text.partition("§")
    file, problems = problems_of(tmp_path, before + after)

    told = {(problem.place.line, problem.place.column): problem for problem in problems}
    place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert place in told, f"expected at {place}:\n" + "\n".join(map(str, problems))
    assert mistake.message in told[place].message
    assert mistake.hint in told[place].hint
    assert str(told[place]).startswith(f"{file}:{place[0]}:{place[1]}: ")


def test_columns_that_chance_made_may_stand_beside_what_leaves_sideways(tmp_path: Path) -> None:
    file = tmp_path / "p.yml"
    file.write_text(
        f"{HEAD}flows:\n  f:\n    from: clicks\n    steps:\n"
        "      - select: ['*', uuid() AS id, rand() AS share]\n"
        "      - select: ['*', 0.5 AS share]\n"
        "      - dead_letters: {where: share > 1, reason: id, topic: d}\n"
        "    sink: {options: {topic: t}}\n"
    )

    assert list(load_pipeline(file).flows) == ["f"]


def test_byte_that_is_no_text_is_told_at_its_place(tmp_path: Path) -> None:
    file = tmp_path / "p.yml"
    file.write_bytes(b"name: p\nstorage: caf\xe9\n")

    with pytest.raises(PipelineFileError, match=r"p\.yml:2:13: The byte 0xe9 here is no UTF-8\. Save"):
        load_pipeline(file)


def test_all_mistakes_are_told_at_once_and_in_order(tmp_path: Path) -> None:
    _, problems = problems_of(tmp_path, f"{HEAD}zzz: 1\ntrigger: never\nflows:\n  f: {{from: click}}\n")

    assert [problem.place.line for problem in problems] == [5, 6, 8, 8]


def test_one_mistake_brings_no_others_with_it(tmp_path: Path) -> None:
    _, problems = problems_of(
        tmp_path,
        f"{HEAD}flows:\n  f:\n    from: clicks\n    sink: {{options: {{topic: t}}}}\n    steps:\n"
        "      - window: {time: ts, size: 1 month, aggregate: {n: count(*)}}\n",
    )

    assert len(problems) == 1


@pytest.mark.parametrize(
    ("name", "message"), [("p.yml", "There is no such file."), ("p.txt", "ends in .yml, .yaml or .py")]
)
def test_what_is_no_pipeline_file_is_refused(tmp_path: Path, name: str, message: str) -> None:
    if name == "p.txt":
        (tmp_path / name).write_text("")
    with pytest.raises(PipelineFileError, match=message):
        load_pipeline(tmp_path / name)
