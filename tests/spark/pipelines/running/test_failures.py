"""Pages of Java and Python become a sentence, a step and a hint."""

import pytest

from penstock.model.errors import UsageError
from penstock.spark.pipelines.model import Holder, HolderKind
from penstock.spark.pipelines.running.failures import StepFailed, cause_text, failure_of

QUERY = """[STREAM_FAILED] Query [id = 1] terminated with exception: \
[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected in record parsing: [null].
Parse Mode: FAILFAST. SQLSTATE: 22023
\tat org.apache.spark.sql.Something(Something.scala:1)"""

PYTHON = """Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times
Traceback (most recent call last):
  File "worker.py", line 1, in main
penstock.spark.reading.data_loss.DataLossError: orders-0 lost offsets 3 to 5: they were removed.
\tat java.base/java.lang.Thread.run(Thread.java:840)"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (PYTHON, "orders-0 lost offsets 3 to 5: they were removed."),
        (
            "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column `x` is unknown. SQLSTATE: 42703; line\n'Filter",
            "A column `x` is unknown. (UNRESOLVED_COLUMN.WITH_SUGGESTION)",
        ),
        ("Something\nelse", "Something"),
        ("", "ValueError('')"),
        ("x" * 1000, f"{'x' * 597}..."),
    ],
)
def test_cause_is_one_sentence(text: str, cause: str) -> None:
    assert cause_text(ValueError(text)) == cause


def test_failure_of_a_step_that_could_not_be_built_names_it() -> None:
    cause = UsageError("There is no such file.")

    own = failure_of("f", StepFailed(Holder(HolderKind.FLOW, "f"), "2 (enrich)", cause))
    assert str(own) == "Flow 'f', step 2 (enrich): There is no such file."
    of_view = failure_of("f", StepFailed(Holder(HolderKind.VIEW, "clean"), "1 (parse)", cause))
    assert str(of_view) == "Flow 'f', step 1 (parse) of 'clean': There is no such file."
    of_namesake = failure_of("f", StepFailed(Holder(HolderKind.SOURCE, "f"), "1 (parse)", cause))
    assert str(of_namesake) == "Flow 'f', step 1 (parse) of 'f': There is no such file."


def test_failure_at_work_names_the_only_step_it_can_come_from() -> None:
    error = ValueError(QUERY)

    assert failure_of("f", error, steps=["filter", "parse"]).step == "2 (parse)"
    assert failure_of("f", error, steps=["parse", "parse"]).step == ""
    assert "deadLetterTopic" in failure_of("f", error).hint
    assert failure_of("f", error).cause.startswith(
        "Malformed records are detected in record parsing: [null]."
    )
