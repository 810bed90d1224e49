"""An Avro schema as ``penstock.schemas`` keeps it: its JSON, its types, and its texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from penstock.schemas.avro.compatibility import avro_incompatibilities
from penstock.schemas.avro.names import defined_names
from penstock.schemas.avro.parsing import ParsedTypes, load, parse_types
from penstock.schemas.avro.texts import canonical_text, normalized_text, resolved_text
from penstock.schemas.avro.validation import validate
from penstock.schemas.incompatibility import Incompatibility


def avro_content(text: str, resolved: Mapping[str, str]) -> "AvroContent":
    """A valid schema with all that it refers to."""
    schema = load(text)
    references = {name: load(other) for name, other in resolved.items()}
    types = parse_types(schema, references)
    validate(schema)
    return AvroContent(schema=schema, references=references, types=types)


@dataclass(frozen=True, kw_only=True)
class AvroContent:
    """A valid Avro schema."""

    schema: Any
    references: Mapping[str, Any]
    types: ParsedTypes

    @cached_property
    def text(self) -> str:
        """Without space, in Avro's own order of attributes; types of references by their names."""
        return canonical_text(self.schema, self.types.named)

    @property
    def identity(self) -> str:
        """The text: documentation and unknown attributes make schemas different, as in other registries."""
        return self.text

    @cached_property
    def normalized_text(self) -> str:
        """With aliases and unknown attributes in order."""
        return normalized_text(self.schema, self.types.named)

    def formatted_text(self, form: str) -> str:
        """``resolved`` writes out the types of references."""
        if form != "resolved":
            return self.text
        return resolved_text(self.schema, self.types.named, self._definitions())

    def incompatibilities(self, writer: "AvroContent") -> list[Incompatibility]:
        """By the specification's rules of schema resolution."""
        return avro_incompatibilities(reader=self.types, writer=writer.types)

    def _definitions(self) -> dict[str, Any]:
        """The definitions that references have as wholes or as branches, by their full names."""
        parts = [
            part for each in self.references.values() for part in (each if isinstance(each, list) else [each])
        ]
        return {name: part for part in parts for name in defined_names(part)}
