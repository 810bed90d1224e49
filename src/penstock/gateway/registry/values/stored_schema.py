"""One version of a subject as the registry keeps it."""

import hashlib
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.gateway.registry.values.subject_names import context_of, within
from penstock.schemas import Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSchema:
    """A schema under its subject and version. The same text has one id wherever it stands in a context."""

    subject: str
    version: int
    schema_id: int
    kind: str
    """``schemaType``: a ``SchemaKind``, unless somebody else wrote it."""
    text: str
    references: tuple[Reference, ...] = ()
    metadata: Mapping[str, Any] | None = None
    rule_set: Mapping[str, Any] | None = None
    is_deleted: bool = False
    """Softly: it is no longer offered, but who knows its version or id is still told."""
    guid: str
    """A name that is the same in every registry, made of the content."""
    timestamp_ms: int = field(default=-1, compare=False)

    @property
    def context(self) -> str:
        """Where its id belongs."""
        return context_of(self.subject)

    def referenced(self) -> Iterator[tuple[str, int]]:
        """The subjects and versions that it refers to."""
        return ((within(self.context, each.subject), each.version) for each in self.references)


def guid_of(
    text: str,
    references: Iterable[Reference] = (),
    metadata: Mapping[str, Any] | None = None,
    rule_set: Mapping[str, Any] | None = None,
) -> str:
    """The name made of a schema's content, byte by byte as Confluent's registry makes it."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False)
    for reference in references:
        digest.update(reference.name.encode() + reference.subject.encode())
        digest.update(reference.version.to_bytes(4, "big", signed=True))
    if metadata is not None:
        digest.update(b"\x01" + "".join(_metadata_words(metadata)).encode())
    if rule_set is not None:
        digest.update(b"\x01" + "".join(_rule_words(rule_set)).encode())
    return str(uuid.UUID(bytes=digest.digest()))


def _metadata_words(metadata: Mapping[str, Any]) -> Iterator[str]:
    for key, values in sorted((metadata.get("tags") or {}).items()):
        yield from (key, *sorted(map(str, values)))
    for key, value in sorted((metadata.get("properties") or {}).items()):
        yield from (key, str(value))
    yield from sorted(map(str, metadata.get("sensitive") or ()))


def _rule_words(rule_set: Mapping[str, Any]) -> Iterator[str]:
    for name in ("migrationRules", "domainRules", "encodingRules"):
        for rule in rule_set.get(name) or ():
            yield from (str(rule[key]) for key in ("name", "doc", "kind", "mode", "type") if rule.get(key))
            yield from sorted(map(str, rule.get("tags") or ()))
            for key, value in sorted((rule.get("params") or {}).items()):
                yield from (str(key), str(value))
            yield from (str(rule[key]) for key in ("expr", "onSuccess", "onFailure") if rule.get(key))
            if rule.get("disabled"):
                yield "\x01"
    if rule_set.get("enableAt"):
        yield str(rule_set["enableAt"])
