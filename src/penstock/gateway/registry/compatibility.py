"""Whether a new schema goes with a subject's versions, as its level asks, and in which words it does not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.gateway.registry.parsed_schemas import parse_stored
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.values.levels import CompatibilityLevel
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.schemas import Incompatibility, InvalidSchema, ParsedSchema, check

GROUP = "compatibilityGroup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Everything that stands between a new schema and one version."""

    version: int
    level: CompatibilityLevel
    reasons: tuple[Incompatibility, ...]

    def messages(self) -> list[str]:
        """As Confluent's registry words it, each naming the place."""
        return [
            *(
                f"{{errorType:'{each.kind}', description:'{each.message}', additionalInfo:'{each.path}'}}"
                for each in self.reasons
            ),
            f"{{oldSchemaVersion: {self.version}}}",
            f"{{compatibility: '{self.level}'}}",
        ]


def conflicts(
    state: RegistryState,
    subject: str,
    new: ParsedSchema,
    *,
    earlier: Sequence[StoredSchema],
    metadata: dict[str, Any] | None = None,
) -> list[Conflict]:
    """What keeps ``new`` from following ``earlier``, oldest first: the latest alone, or all of them."""
    level = state.level(subject)
    direction = level.direction
    if direction is None:
        return []
    group = state.config_in_scope(subject).get(GROUP)
    compared = [
        each for each in earlier if not group or _group(each.metadata, group) == _group(metadata, group)
    ]
    found = []
    for version in compared if level.is_transitive else compared[-1:]:
        try:
            reasons = check(new.kind, new=new, old=parse_stored(state, version), direction=direction)
        except InvalidSchema as error:
            reasons = [Incompatibility(kind="INVALID_SCHEMA", path="/", message=str(error))]
        if reasons:
            found.append(Conflict(version=version.version, level=level, reasons=tuple(reasons)))
    return found


def worded(found: Sequence[Conflict]) -> list[str]:
    """All messages about all versions."""
    return [message for conflict in found for message in conflict.messages()]


def _group(metadata: Any, name: str) -> Any:
    return ((metadata or {}).get("properties") or {}).get(name)
