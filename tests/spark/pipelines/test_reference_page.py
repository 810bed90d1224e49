"""Every key, step, option and metric is in the reference, and every step in the guide."""

from pathlib import Path

import pytest

from penstock.spark.pipelines.fields.field import Field
from penstock.spark.pipelines.reference_page import SECTIONS
from penstock.spark.pipelines.reporting.prometheus import METRICS
from penstock.spark.pipelines.steps import STEPS
from penstock.spark.pipelines.steps.step import Step

DOCS = Path(__file__).parents[3] / "docs"
REFERENCE = (DOCS / "reference" / "pipelines.md").read_text()


def section(title: str, level: str) -> str:
    """What stands below a title, up to the next of its rank."""
    begin = REFERENCE.index(f"\n{level} {title}\n")
    rest = REFERENCE[begin + 1 :]
    ends = [rest.index(mark) for mark in (f"\n{level} ", "\n## ") if mark in rest]
    return rest[: min(ends, default=len(rest))]


def rows(text: str) -> set[str]:
    return {line.split("|")[1].strip().strip("*`") for line in text.splitlines() if line.startswith("| ")}


@pytest.mark.parametrize(("title", "fields"), [(title, fields) for title, _, fields in SECTIONS])
def test_every_key_is_documented(title: str, fields: list[Field]) -> None:
    assert {field.name for field in fields} <= rows(section(title, "##"))


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_every_step_is_documented_with_its_options_and_an_example(step: Step) -> None:
    text = section(step.name, "###")

    assert {field.name for field in step.fields} <= rows(text)
    assert step.example in text
    assert f"`{step.name}`" in (DOCS / "pipelines.md").read_text()


def test_every_metric_is_documented() -> None:
    assert {f"penstock_pipeline_{name}" for name in METRICS} <= rows(section("Metrics", "##"))
