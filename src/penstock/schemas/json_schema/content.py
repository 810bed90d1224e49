"""A JSON Schema as ``penstock.schemas`` keeps it: its document, those it refers to, and its texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from penstock.schemas.incompatibility import Incompatibility
from penstock.schemas.json_schema.compatibility import json_incompatibilities
from penstock.schemas.json_schema.documents import Document, documents
from penstock.schemas.json_schema.validation import validate
from penstock.schemas.json_text import dump_json


def json_content(text: str, resolved: Mapping[str, str]) -> "JsonContent":
    """A valid schema with all that it refers to."""
    main, others = documents(text, resolved)
    validate(main, others)
    return JsonContent(main=main, others=others)


@dataclass(frozen=True, kw_only=True)
class JsonContent:
    """A valid JSON Schema."""

    main: Document
    others: Mapping[str, Document]

    @cached_property
    def text(self) -> str:
        """Without space; members stand in the order in which they were written."""
        return dump_json(self.main.schema)

    @property
    def identity(self) -> str:
        """The text: the order of members makes schemas different, as in other registries."""
        return self.text

    @cached_property
    def normalized_text(self) -> str:
        """With all members sorted by their names."""
        return dump_json(_ordered(self.main.schema))

    def formatted_text(self, form: str) -> str:
        """There is one form only."""
        return self.text

    def incompatibilities(self, writer: "JsonContent") -> list[Incompatibility]:
        """What this schema does not accept of what the writer's does."""
        return json_incompatibilities(reader=(self.main, self.others), writer=(writer.main, writer.others))


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value
