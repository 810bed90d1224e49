"""The table of steps is whole: names, words about every option, examples that can be read."""

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.steps import STEPS
from penstock.spark.pipelines.steps.step import Step

FILES = ("countries.csv", "visits.py")


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_step_says_what_it_and_its_options_are(step: Step) -> None:
    assert step.summary.endswith(".")
    assert (step.build is None) == step.is_ending
    assert len({field.name for field in step.fields}) == len(step.fields)
    assert all(field.doc.rstrip("`").endswith((".", ".*")) for field in step.fields)
    assert step.shorthand in {"", *(field.name for field in step.fields)}
    assert (step.side is None) or step.side_topic({field.name: "x" for field in step.fields}) == "x"


@pytest.mark.parametrize(
    "step", [step for step in STEPS.values() if not step.is_ending], ids=lambda step: step.name
)
def test_example_of_a_step_can_be_read(step: Step, tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).write_text("")
    steps = "".join(f"      {line}\n" for line in step.example.splitlines())
    mode = "update" if step.name == "stateful" else "append"
    topic = "" if step.name == "route" else "topic: out"
    (tmp_path / "p.yml").write_text(
        "name: p\nstorage: s\nsources:\n"
        + "".join(
            f"  {name}: {{options: {{subscribe: {name}}}}}\n" for name in ("orders", "payments", "customers")
        )
        + f"flows:\n  f:\n    from: orders\n    outputMode: {mode}\n    sink: {{options: {{{topic}}}}}\n"
        + f"    steps:\n{steps}"
    )

    pipeline = load_pipeline(tmp_path / "p.yml")

    assert {use.name for use in pipeline.flows["f"].query.steps} == {step.name}


def test_steps_can_be_looked_at_without_spark() -> None:
    code = "import sys, penstock.spark.pipelines.loading; sys.exit('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)

    assert done.returncode == 0
