"""The records of ``_schemas``: keys and values of JSON as Confluent's registry writes and reads them.

A key that is written again replaces what it said before, and a value of null takes it away, so the topic can
be compacted. ``NOOP`` means nothing to others; ours carries the highest ids that were ever given, since
compaction forgets those of schemas that were deleted for good.
"""

import base64
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.gateway.registry.values.stored_schema import StoredSchema, guid_of
from penstock.schemas import Reference

DEFAULT_TENANT = "default"
HIGHEST_IDS = "highestIds"

Value = Mapping[str, Any]


class UnreadableRecordError(ValueError):
    """Something else than a registry's record stands in the topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRecord:
    """One record: what it is about, and what is said of it; None takes back what was said."""

    key: Value
    value: Value | None
    timestamp_ms: int = field(default=-1, compare=False)

    @property
    def keytype(self) -> str:
        """What kind of thing it is about."""
        return str(self.key.get("keytype"))

    @property
    def subject(self) -> str | None:
        """Whose it is; None for the whole registry."""
        subject = self.key.get("subject")
        return None if subject is None else str(subject)

    def encoded_key(self) -> bytes:
        """The key's bytes; compaction compares them, so they are always the same for the same key."""
        return _encoded(self.key)

    def encoded_value(self) -> bytes | None:
        """The value's bytes."""
        return None if self.value is None else _encoded(self.value)


def read_record(key: bytes | None, value: bytes | None, *, timestamp_ms: int = -1) -> TopicRecord:
    """The record of these bytes; raises UnreadableRecordError."""
    decoded = _decoded(key)
    if decoded is None or "keytype" not in decoded:
        raise UnreadableRecordError(f"a key of a registry's record has a keytype, unlike {key!r}")
    return TopicRecord(key=decoded, value=_decoded(value), timestamp_ms=timestamp_ms)


def schema_record(schema: StoredSchema) -> TopicRecord:
    """Says what a version is."""
    value: dict[str, Any] = {
        "subject": schema.subject,
        "version": schema.version,
        "id": schema.schema_id,
        "md5": base64.b64encode(uuid.UUID(schema.guid).bytes).decode(),
    }
    if schema.kind != "AVRO":
        value["schemaType"] = schema.kind
    if schema.references:
        value["references"] = [reference_body(each) for each in schema.references]
    if schema.metadata is not None:
        value["metadata"] = dict(schema.metadata)
    if schema.rule_set is not None:
        value["ruleSet"] = dict(schema.rule_set)
    value |= {"schema": schema.text, "deleted": schema.is_deleted}
    return TopicRecord(key=_schema_key(schema.subject, schema.version), value=value)


def schema_tombstone(schema: StoredSchema) -> TopicRecord:
    """Takes a version away for good."""
    return TopicRecord(key=_schema_key(schema.subject, schema.version), value=None)


def stored_schema(record: TopicRecord) -> StoredSchema:
    """The version that a SCHEMA record with a value says."""
    value = record.value or {}
    try:
        references = tuple(_reference(each) for each in value.get("references") or ())
        metadata, rule_set = value.get("metadata"), value.get("ruleSet")
        text = str(value["schema"])
        return StoredSchema(
            subject=str(value["subject"]),
            version=int(value["version"]),
            schema_id=int(value["id"]),
            kind=str(value.get("schemaType") or "AVRO"),
            text=text,
            references=references,
            metadata=metadata,
            rule_set=rule_set,
            is_deleted=bool(value.get("deleted", False)),
            guid=_guid(value.get("md5")) or guid_of(text, references, metadata, rule_set),
            timestamp_ms=record.timestamp_ms,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableRecordError(f"no schema in the value of {dict(record.key)}: {error!r}") from error


def config_record(subject: str | None, config: Value | None) -> TopicRecord:
    """Says, or takes back, the settings of a subject or of all."""
    value = None if config is None else _about(subject) | dict(config)
    return TopicRecord(key={"keytype": "CONFIG", **_about(subject), "magic": 0}, value=value)


def mode_record(subject: str | None, mode: str | None) -> TopicRecord:
    """Says, or takes back, the mode of a subject or of all."""
    value = None if mode is None else _about(subject) | {"mode": mode}
    return TopicRecord(key={"keytype": "MODE", **_about(subject), "magic": 0}, value=value)


def delete_subject_record(subject: str, version: int) -> TopicRecord:
    """Deletes all versions up to this one softly."""
    key = {"keytype": "DELETE_SUBJECT", "subject": subject, "magic": 0}
    return TopicRecord(key=key, value={"subject": subject, "version": version})


def clear_subject_record(subject: str | None) -> TopicRecord:
    """Says that nothing of a subject is left, before its mode becomes IMPORT."""
    key = {"keytype": "CLEAR_SUBJECT", **_about(subject), "magic": 0}
    return TopicRecord(key=key, value=_about(subject))


def context_record(context: str, *, is_there: bool = True) -> TopicRecord:
    """Says, or takes back, that there is a context."""
    value = {"tenant": DEFAULT_TENANT, "context": context}
    return TopicRecord(key={"keytype": "CONTEXT", **value, "magic": 0}, value=value if is_there else None)


def highest_ids_record(highest_ids: Mapping[str, int]) -> TopicRecord:
    """Remembers, by context, the highest ids that were given."""
    return TopicRecord(key={"keytype": "NOOP", "magic": 0}, value={HIGHEST_IDS: dict(highest_ids)})


def reference_body(reference: Reference) -> dict[str, Any]:
    """A reference as JSON."""
    return {"name": reference.name, "subject": reference.subject, "version": reference.version}


def _schema_key(subject: str, version: int) -> dict[str, Any]:
    return {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}


def _about(subject: str | None) -> dict[str, Any]:
    """Confluent leaves the subject out where it means the whole registry."""
    return {} if subject is None else {"subject": subject}


def _reference(value: Value) -> Reference:
    return Reference(name=str(value["name"]), subject=str(value["subject"]), version=int(value["version"]))


def _guid(md5: object) -> str | None:
    return None if md5 is None else str(uuid.UUID(bytes=base64.b64decode(str(md5))))


def _encoded(value: Value) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _decoded(data: bytes | None) -> Value | None:
    if data is None:
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnreadableRecordError(f"not JSON: {data[:100]!r}") from error
    if not isinstance(value, dict):
        raise UnreadableRecordError(f"not an object of JSON: {data[:100]!r}")
    return value
