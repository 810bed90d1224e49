"""What the readers of a file share: the document, the problems found so far, and where they were."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from yaml.nodes import MappingNode, Node

from penstock.spark.pipelines.document import Document
from penstock.spark.pipelines.fields.field import Field
from penstock.spark.pipelines.fields.kinds import entries
from penstock.spark.pipelines.fields.reading import read_fields
from penstock.spark.pipelines.problems import Place, Problems

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Reading:
    """A file being read."""

    document: Document
    problems: Problems = field(default_factory=Problems)

    def place(self, node: Node) -> Place:
        """Where a node begins."""
        return self.document.place(node)

    def complain(self, node: Node, message: str, hint: str = "") -> None:
        """Note a problem at a node."""
        self.problems.add(self.place(node), message, hint=hint)

    def fields(self, node: Node, table: Sequence[Field], *, noun: str) -> dict[str, Any]:
        """The values of a mapping by a table."""
        return read_fields(node, table, document=self.document, problems=self.problems, noun=noun)

    def key_places(self, node: Node, *path: str) -> dict[str, Place]:
        """Where the keys of a mapping stand that is some way below ``node``; none if it is not there."""
        for word in path:
            found = [value for key, value in _pairs(node) if key.value == word]
            if not found:
                return {}
            node = found[0]
        return {str(key.value): self.place(key) for key, _ in _pairs(node)}

    def named(
        self, node: Node | None, noun: str, read: Callable[[str, Node], Thing | None]
    ) -> dict[str, Thing]:
        """Things by name; ``read`` gets a name and what stands below it."""
        if node is None:
            return {}
        if not isinstance(node, MappingNode):
            self.complain(
                node, f"The {noun}s must be a mapping.", f"Write the name of each {noun}, and its keys below."
            )
            return {}
        found = {name: read(name, value) for name, value in entries(node, self.document, self.problems)}
        return {name: thing for name, thing in found.items() if thing is not None}


def _pairs(node: Node) -> list[tuple[Node, Node]]:
    return list(node.value) if isinstance(node, MappingNode) else []
