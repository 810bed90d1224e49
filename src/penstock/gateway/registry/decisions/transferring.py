"""The whole registry as a list of entries, and such a list back into a registry: ids, versions, all of it.

What was there before stays. An entry that is there already is skipped, and one that would take somebody
else's id or version is refused, with the whole part of the list that it came in.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.gateway.errors import GatewayError
from penstock.gateway.registry.decisions.decision import Decide, Decision
from penstock.gateway.registry.decisions.permission import require_writable
from penstock.gateway.registry.decisions.well_formed import (
    NUMBER_MAX,
    require_config,
    require_metadata,
    require_rules,
)
from penstock.gateway.registry.errors import id_does_not_match, invalid_schema, invalid_subject
from penstock.gateway.registry.parsed_schemas import parse_stored
from penstock.gateway.registry.replay import apply
from penstock.gateway.registry.state import RegistryState, StateDraft
from penstock.gateway.registry.topic.records import (
    TopicRecord,
    UnreadableRecordError,
    config_record,
    context_record,
    highest_ids_record,
    mode_record,
    schema_record,
    stored_schema,
)
from penstock.gateway.registry.values.levels import Mode
from penstock.gateway.registry.values.stored_schema import StoredSchema
from penstock.gateway.registry.values.subject_names import DEFAULT_CONTEXT, is_context, is_valid

FORMAT = 1
Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import came to."""

    added_count: int
    unchanged_count: int


def exported(state: RegistryState) -> Iterator[dict[str, Any]]:
    """Everything, in an order in which it can be imported."""
    yield {"type": "registry", "format": FORMAT, "highestIds": dict(state.highest_ids)}
    for context in state.contexts:
        if context != DEFAULT_CONTEXT:
            yield {"type": "context", "context": context}
    for schema in in_order_of_references(state):
        value = dict(schema_record(schema).value or {})
        value.pop("md5")
        yield {"type": "schema", **value}
    for subject, config in sorted(state.configs.items(), key=lambda item: item[0] or ""):
        yield {"type": "config", "subject": subject, "config": dict(config)}
    for subject, mode in sorted(state.modes.items(), key=lambda item: item[0] or ""):
        yield {"type": "mode", "subject": subject, "mode": mode.value}


def in_order_of_references(state: RegistryState) -> Iterator[StoredSchema]:
    """Every version after those that it refers to."""
    begun: set[tuple[str, int]] = set()
    for schema in state.everything():
        # A stack and not recursion: chains of references may be as long as somebody likes.
        stack = [] if (schema.subject, schema.version) in begun else [schema]
        while stack:
            top = stack[-1]
            begun.add((top.subject, top.version))
            places = (place for place in top.referenced() if place not in begun)
            missing = next((found for place in places if (found := state.version(*place))), None)
            if missing is None:
                yield stack.pop()
            else:
                stack.append(missing)


def decide_import(entries: Sequence[Entry]) -> Decide[Imported]:
    """Take all entries, or none."""

    def decide(state: RegistryState) -> Decision[Imported]:
        records: list[TopicRecord] = []
        unchanged_count = 0
        # One draft for all: copying a large registry for each of many entries would take minutes.
        draft = StateDraft(state)
        for entry in entries:
            made = _record(draft.finished(), entry)
            if made is None:
                unchanged_count += 1
            else:
                records.append(made)
                apply(draft, made)
        answer = Imported(added_count=len(records), unchanged_count=unchanged_count)
        return Decision(answer=answer, records=records)

    return decide


def _record(state: RegistryState, entry: Entry) -> TopicRecord | None:
    """The record that an entry becomes; None if it says what is known."""
    try:
        match entry.get("type"):
            case "registry":
                return _highest_ids(state, entry)
            case "context":
                return _context(state, entry)
            case "schema":
                return _schema(state, entry)
            case "config":
                return _config(state, entry)
            case "mode":
                return _mode(state, entry)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, GatewayError):
            raise
        raise GatewayError(422, f"An entry cannot be read ({error!r}): {str(entry)[:200]}.") from error
    raise GatewayError(422, f"There are no entries of type {entry.get('type')!r}.")


def _highest_ids(state: RegistryState, entry: Entry) -> TopicRecord | None:
    if entry["format"] != FORMAT:
        raise GatewayError(422, f"The file has format {entry['format']}; this program reads {FORMAT}.")
    theirs = {str(context): int(highest) for context, highest in entry["highestIds"].items()}
    if any(highest > NUMBER_MAX for highest in theirs.values()):
        raise GatewayError(422, f"No id is higher than {NUMBER_MAX}.")
    merged = {
        context: max(state.highest_ids.get(context, 0), theirs.get(context, 0))
        for context in sorted({*state.highest_ids, *theirs})
    }
    return None if merged == dict(state.highest_ids) else highest_ids_record(merged)


def _context(state: RegistryState, entry: Entry) -> TopicRecord | None:
    context = str(entry["context"])
    if not context.startswith(".") or ":" in context:
        raise GatewayError(422, f"{context!r} is no name of a context.")
    return None if context in state.known_contexts else context_record(context)


def _schema(state: RegistryState, entry: Entry) -> TopicRecord | None:
    value = {key: part for key, part in entry.items() if key != "type"}
    try:
        schema = stored_schema(TopicRecord(key={"keytype": "SCHEMA"}, value=value))
    except UnreadableRecordError as error:
        raise invalid_schema(str(error)) from error
    if not is_valid(schema.subject) or is_context(schema.subject):
        raise invalid_subject(schema.subject)
    if not (1 <= schema.version <= NUMBER_MAX and 1 <= schema.schema_id <= NUMBER_MAX):
        raise invalid_schema(
            f"Version {schema.version} and id {schema.schema_id} must be from 1 to {NUMBER_MAX}."
        )
    require_metadata(schema.metadata)
    require_rules(schema.rule_set)
    if state.version(schema.subject, schema.version) == schema:
        return None
    require_writable(state, schema.subject)
    _require_free(state, schema)
    parse_stored(state, schema)
    return schema_record(schema)


def _require_free(state: RegistryState, schema: StoredSchema) -> None:
    known = state.version(schema.subject, schema.version)
    if known is not None and (known.schema_id, known.guid) != (schema.schema_id, schema.guid):
        raise id_does_not_match(
            f"Version {schema.version} of subject '{schema.subject}' is here already, as another schema with "
            f"id {known.schema_id}; import into a context of its own, or into an empty registry."
        )
    for holder in state.ids.get((schema.context, schema.schema_id), ()):
        if holder.text != schema.text:
            raise id_does_not_match(
                f"Id {schema.schema_id} of version {schema.version} of subject '{schema.subject}' belongs to "
                f"another schema here, version {holder.version} of subject '{holder.subject}'."
            )


def _config(state: RegistryState, entry: Entry) -> TopicRecord | None:
    subject, config = entry["subject"], dict(entry["config"])
    _require_scope(subject)
    require_config(config)
    if state.configs.get(subject) == config:
        return None
    require_writable(state, subject)
    return config_record(subject, config)


def _mode(state: RegistryState, entry: Entry) -> TopicRecord | None:
    subject, mode = entry["subject"], Mode(entry["mode"])
    _require_scope(subject)
    return None if state.modes.get(subject) is mode else mode_record(subject, mode.value)


def _require_scope(subject: object) -> None:
    """Settings belong to a subject or a context, or for None to the whole registry."""
    if subject is not None and not (isinstance(subject, str) and is_valid(subject)):
        raise invalid_subject(str(subject))
