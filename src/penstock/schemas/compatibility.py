"""Whether records of one schema can be read with another, and if not, what stands in the way.

Readers are asked about writers. BACKWARD: who has the new schema reads what the old one wrote. FORWARD: who
has the old one reads what the new one writes. FULL: both. Checking against all versions instead of the last
one is the caller's loop.
"""

from enum import StrEnum

from penstock.model.limits import SCHEMA_COMPARISON_STEPS_MAX
from penstock.schemas.errors import InvalidSchema, TooComplexError
from penstock.schemas.incompatibility import Incompatibility
from penstock.schemas.schema import ParsedSchema, SchemaKind


class Direction(StrEnum):
    """Who must be able to read whose records."""

    BACKWARD = "BACKWARD"
    FORWARD = "FORWARD"
    FULL = "FULL"


def check(
    kind: SchemaKind, *, new: ParsedSchema, old: ParsedSchema, direction: Direction
) -> list[Incompatibility]:
    """Everything that makes ``new`` incompatible with ``old``; nothing if it is compatible."""
    for schema in (new, old):
        if schema.kind is not kind:
            return [_other_kind(new, old)]
    found: list[Incompatibility] = []
    if direction is not Direction.FORWARD:
        found += differences(reader=new, writer=old)
    if direction is not Direction.BACKWARD:
        found += differences(reader=old, writer=new)
    return list(dict.fromkeys(found))


def differences(*, reader: ParsedSchema, writer: ParsedSchema) -> list[Incompatibility]:
    """What keeps a reader from reading a writer's records; both are of one kind."""
    if reader.content.identity == writer.content.identity and reader.resolved == writer.resolved:
        return []
    try:
        return reader.content.incompatibilities(writer.content)
    except TooComplexError:
        return [_TOO_COMPLEX]
    except RecursionError as error:
        raise InvalidSchema("The schemas are nested too deeply to be compared.") from error


_TOO_COMPLEX = Incompatibility(
    kind="COMPARISON_TOO_COMPLEX",
    path="/",
    message=f"the schemas have so many alternatives that {SCHEMA_COMPARISON_STEPS_MAX} steps did not prove"
    " them compatible; let alternatives differ more, or split the schema.",
)


def _other_kind(new: ParsedSchema, old: ParsedSchema) -> Incompatibility:
    return Incompatibility(
        kind="SCHEMA_TYPE_CHANGED",
        path="/",
        message=f"the new schema is {new.kind} and the old one {old.kind}; give the new kind a subject of"
        " its own.",
    )
