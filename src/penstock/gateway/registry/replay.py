"""What each record of the topic does to the state.

Records that others wrote are believed as far as they make sense: an id that already belongs to another text
stays with it, and what cannot be read is left out. Both are logged, since somebody has to look.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from penstock.gateway.registry.state import RegistryState, StateDraft
from penstock.gateway.registry.topic.records import (
    HIGHEST_IDS,
    TopicRecord,
    UnreadableRecordError,
    stored_schema,
)
from penstock.gateway.registry.values.levels import Mode

logger = logging.getLogger("penstock.gateway.registry")


def replay(state: RegistryState, records: Iterable[TopicRecord]) -> RegistryState:
    """The state after these records."""
    draft = StateDraft(state)
    for record in records:
        apply(draft, record)
    return draft.finished()


def apply(draft: StateDraft, record: TopicRecord) -> None:
    """Do to a draft what a record says."""
    handle = _HANDLERS.get(record.keytype)
    if handle is None:
        return  # Of a newer registry, about something that is not kept here.
    try:
        handle(draft, record)
    except (UnreadableRecordError, KeyError, TypeError, ValueError) as error:
        logger.warning("a record of _schemas is left out, key %s: %r", dict(record.key), error)


def _schema(draft: StateDraft, record: TopicRecord) -> None:
    if record.value is None:
        draft.remove(str(record.key["subject"]), int(record.key["version"]))
        return
    schema = stored_schema(record)
    holder = draft.holder(schema.context, schema.schema_id)
    if holder is not None and holder.text != schema.text:
        logger.error(
            "version %d of subject %r in _schemas claims id %d, which belongs to %r: it is left out",
            schema.version,
            schema.subject,
            schema.schema_id,
            holder.subject,
        )
        return
    draft.put(schema)


def _delete_subject(draft: StateDraft, record: TopicRecord) -> None:
    if record.value is None:
        return
    last = int(record.value["version"])
    for schema in draft.versions(str(record.value["subject"])):
        if schema.version <= last and not schema.is_deleted:
            draft.put(replace(schema, is_deleted=True))


def _config(draft: StateDraft, record: TopicRecord) -> None:
    if record.value is None:
        draft.configs.pop(record.subject, None)
    else:
        ignored = ("subject", "offset", "ts")
        draft.configs[record.subject] = {
            key: value for key, value in record.value.items() if key not in ignored and value is not None
        }


def _mode(draft: StateDraft, record: TopicRecord) -> None:
    if record.value is None:
        draft.modes.pop(record.subject, None)
    else:
        draft.modes[record.subject] = Mode(record.value["mode"])


def _context(draft: StateDraft, record: TopicRecord) -> None:
    context = str(record.key["context"])
    if record.value is None:
        draft.contexts.discard(context)
    else:
        draft.contexts.add(context)


def _noop(draft: StateDraft, record: TopicRecord) -> None:
    for context, highest in ((record.value or {}).get(HIGHEST_IDS) or {}).items():
        draft.highest_ids[context] = max(draft.highest_ids.get(context, 0), int(highest))


_HANDLERS: Mapping[str, Callable[[StateDraft, TopicRecord], None]] = {
    "SCHEMA": _schema,
    "DELETE_SUBJECT": _delete_subject,
    "CONFIG": _config,
    "MODE": _mode,
    "CONTEXT": _context,
    "NOOP": _noop,
}
