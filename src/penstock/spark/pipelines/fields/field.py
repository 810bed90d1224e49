"""One line of a table of keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from yaml.nodes import Node

from penstock.spark.pipelines.document import Document
from penstock.spark.pipelines.problems import Problems

Options = Mapping[str, Any]
"""Values by the names of a table's fields, defaults included."""


class Kind(Protocol):
    """What the values of a field look like."""

    @property
    def expected(self) -> str:
        """Completes the sentence "must be ..."."""
        ...

    def read(self, node: Node, document: Document, problems: Problems) -> Any:
        """The value of a node; None after noting a problem."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A key that may stand in a mapping."""

    name: str
    kind: Kind
    doc: str
    default: Any = None
    is_required: bool = False

    @property
    def default_text(self) -> str:
        """The default as a person would write it; empty where there is none."""
        if self.default is None or self.default in ((), {}):
            return ""
        if isinstance(self.default, bool):
            return "true" if self.default else "false"
        if isinstance(self.default, tuple):
            return f"[{', '.join(map(str, self.default))}]"
        return str(self.default)


def by_name(fields: Sequence[Field]) -> dict[str, Field]:
    """The lines of a table by their names."""
    return {field.name: field for field in fields}
