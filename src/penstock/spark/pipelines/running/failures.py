"""What went wrong with a flow, told by flow, step, cause and what to do."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.model.errors import PenstockError
from penstock.spark.pipelines.model import Holder, HolderKind

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]")
_STATE = re.compile(r"\s*SQLSTATE: \w{5}.*$")
_WRAPPERS = ("STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR", "JOB_ABORTED", "STAGE_FAILED")
"""Conditions that only say that there is another one inside."""
_OURS = re.compile(r"penstock\.[\w.]*(?:Error|Exception|Failed)\w*: (.*)")
_LINE_MAX = 600


@dataclass(frozen=True, slots=True)
class Advice:
    """Which step is behind an error of Spark, and what to do about it."""

    hint: str
    steps: tuple[str, ...] = ()


_ADVICE: Mapping[str, Advice] = {
    "UNRESOLVED_COLUMN": Advice("Check the name against the columns of the step before it."),
    "TABLE_OR_VIEW_NOT_FOUND": Advice("Name a source, view or table of the pipeline."),
    "PARSE_SYNTAX_ERROR": Advice("Check the SQL at the place that Spark names."),
    "UNRESOLVED_ROUTINE": Advice("Check the name of the function."),
    "DATATYPE_MISMATCH": Advice("Cast one side: CAST(x AS bigint), or to_timestamp(x)."),
    "MALFORMED_RECORD_IN_PARSING": Advice(
        "Give the step a `deadLetterTopic`, or another `mode`, so that such records do not end the flow.",
        ("parse",),
    ),
    "STREAMING_OUTPUT_MODE": Advice("Add a watermark before the aggregate, or set `outputMode: update`."),
    "STATEFUL_PROCESSOR": Advice("Look at the class that the step names.", ("stateful",)),
    "TRANSFORM_WITH_STATE": Advice("Look at the class that the step names.", ("stateful",)),
    "STATE_STORE_UNSUPPORTED": Advice(
        "State needs RocksDB here; do not set another stateStore.providerClass."
    ),
    "CANNOT_LOAD_STATE_STORE": Advice(
        "The checkpoint belongs to another version of the flow: give the flow a new name, or remove its "
        "directory."
    ),
    "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE": Advice(
        "What the flow groups by has changed: give the flow a new name, or remove its directory."
    ),
    "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE": Advice(
        "What the flow aggregates has changed: give the flow a new name, or remove its directory."
    ),
    "PACKAGE_NOT_INSTALLED": Advice("Install it with `pip install 'penstock[stateful]'`.", ("stateful",)),
    "INVALID_SQL_SYNTAX": Advice("Check the SQL at the place that Spark names."),
    "MISSING_AGGREGATION": Advice("Put the column into `by`, or into an aggregate."),
}


class StepFailed(PenstockError):
    """A step could not even be described to Spark."""

    def __init__(self, holder: Holder, step: str, cause: Exception) -> None:
        self.holder = holder
        self.step = step
        self.cause = cause
        super().__init__(f"{holder.name}, step {step}: {cause_text(cause)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowFailure:
    """Why a flow does not run any more."""

    flow: str
    step: str
    """Empty if it cannot be told which."""
    cause: str
    hint: str

    def __str__(self) -> str:
        step = f", step {self.step}" if self.step else ""
        return f"Flow {self.flow!r}{step}: {self.cause}"


def failure_of(flow: str, error: BaseException, *, steps: Sequence[str] = ()) -> FlowFailure:
    """What an exception means; ``steps`` are the names of the flow's steps in their order."""
    if isinstance(error, StepFailed):
        is_own = error.holder == Holder(HolderKind.FLOW, flow)
        where = "" if is_own else f" of {error.holder.name!r}"
        advice = _advice(str(error.cause))
        return FlowFailure(
            flow=flow, step=f"{error.step}{where}", cause=cause_text(error.cause), hint=advice.hint
        )
    advice = _advice(str(error))
    return FlowFailure(flow=flow, step=_step(advice, steps), cause=cause_text(error), hint=advice.hint)


def side_failure_of(flow: str, error: BaseException) -> FlowFailure:
    """What an exception means that came while side outputs were written."""
    found = failure_of(flow, error)
    return replace(found, step=found.step or "side output")


def cause_text(error: BaseException) -> str:
    """One sentence out of what may be pages: our own message if there is one, else Spark's first line."""
    text = str(error).strip()
    if ours := _OURS.findall(text):
        return _short(ours[-1])
    for match in _conditions(text):
        said = _STATE.sub("", text[match.end() :].strip().partition("\n")[0])
        return _short(f"{said} ({match[1]})") if said else match[1]
    lines = [line for line in text.splitlines() if line.strip()]
    return _short(lines[-1] if lines and lines[0].startswith("Traceback") else (lines or [repr(error)])[0])


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LINE_MAX else f"{flat[: _LINE_MAX - 3]}..."


def _conditions(text: str) -> Iterator[re.Match[str]]:
    """Spark's names of what went wrong, the telling ones."""
    return (match for match in _CONDITION.finditer(text) if not match[1].startswith(_WRAPPERS))


def _advice(text: str) -> Advice:
    for condition in _conditions(text):
        for name, advice in _ADVICE.items():
            if condition[1].startswith(name):
                return advice
    return Advice("")


def _step(advice: Advice, steps: Sequence[str]) -> str:
    """The step that an error must have come from, if just one can have raised it."""
    found = [f"{number + 1} ({name})" for number, name in enumerate(steps) if name in advice.steps]
    return found[0] if len(found) == 1 else ""
