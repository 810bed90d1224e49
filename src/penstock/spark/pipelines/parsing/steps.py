"""Uses of steps: ``- filter: amount > 0`` and their like."""

from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from penstock.spark.pipelines.fields.field import by_name
from penstock.spark.pipelines.fields.kinds import entries, scalar_text
from penstock.spark.pipelines.model import StepUse
from penstock.spark.pipelines.parsing.context import Reading
from penstock.spark.pipelines.problems import suggestion
from penstock.spark.pipelines.steps import STEPS
from penstock.spark.pipelines.steps.step import Step


def read_steps(node: Node | None, reading: Reading) -> tuple[StepUse, ...]:
    """The steps of a flow or view in their order."""
    if node is None:
        return ()
    if not isinstance(node, SequenceNode):
        reading.complain(
            node, "The steps must be a list.", "Begin each step with `- `, like `- filter: amount > 0`."
        )
        return ()
    uses = [_read_item(item, reading) for item in node.value]
    return tuple(use for use in uses if use is not None)


def _read_item(node: Node, reading: Reading) -> StepUse | None:
    if not isinstance(node, MappingNode) or len(node.value) != 1:
        reading.complain(
            node,
            "A step is one name and its options.",
            "Write it like `- filter: amount > 0`, each with its own `- `.",
        )
        return None
    ((key, value),) = node.value
    name = scalar_text(key) or ""
    step = STEPS.get(name)
    if step is None or step.is_ending:
        steps = [each.name for each in STEPS.values() if not each.is_ending]
        reading.complain(key, f"There is no step {name!r}.", suggestion(name, steps, limit=20))
        return None
    return read_use(step, value, reading)


def read_use(step: Step, node: Node, reading: Reading) -> StepUse | None:
    """One use of a step with all its options; a bare text or list stands for the option it is short for.

    None if some option is wrong: whatever else would be said of it would only repeat that.
    """
    noun = f"The step {step.name!r}"
    if step.shorthand and isinstance(node, ScalarNode | SequenceNode):
        options = _short(step, node, reading)
    else:
        options = reading.fields(node, step.fields, noun=noun)
    if not _is_whole(step, node, options):
        return None
    step.check(options, lambda message, hint: reading.complain(node, message, hint))
    return StepUse(name=step.name, options=options, place=reading.place(node))


def _short(step: Step, node: Node, reading: Reading) -> dict[str, Any]:
    options = {field.name: field.default for field in step.fields}
    options[step.shorthand] = by_name(step.fields)[step.shorthand].kind.read(
        node, reading.document, reading.problems
    )
    return options


def _is_whole(step: Step, node: Node, options: dict[str, Any]) -> bool:
    """Whether nothing was wrong with single options, so that it makes sense to compare them."""
    if not isinstance(node, MappingNode):
        return options.get(step.shorthand) is not None
    table = by_name(step.fields)
    given = {scalar_text(key) for key, _ in node.value}
    refused = [name for name in given if name in table and options[name] is None]
    missing = [field for field in step.fields if field.is_required and options[field.name] is None]
    return not refused and not missing


def endings_in(node: MappingNode, reading: Reading) -> list[tuple[Step, Node]]:
    """The endings that a flow names beside its keys, with what stands below them."""
    found = entries(node, reading.document, reading.problems)
    return [(STEPS[name], value) for name, value in found if name in STEPS and STEPS[name].is_ending]
