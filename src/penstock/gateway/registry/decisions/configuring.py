"""Settings and modes of a subject, a context, or the whole registry (None)."""

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.gateway.registry.decisions.decision import Decide, Decision
from penstock.gateway.registry.decisions.permission import require_writable
from penstock.gateway.registry.errors import not_permitted, reference_exists, subject_not_found
from penstock.gateway.registry.state import Config, RegistryState
from penstock.gateway.registry.topic.records import (
    TopicRecord,
    clear_subject_record,
    config_record,
    context_record,
    highest_ids_record,
    mode_record,
    schema_tombstone,
)
from penstock.gateway.registry.values.levels import Mode
from penstock.gateway.registry.values.subject_names import DEFAULT_CONTEXT, GLOBAL_CONTEXT, context_of


def decide_set_config(subject: str | None, changes: Mapping[str, Any]) -> Decide[Config]:
    """Change settings; what is not named stays, None goes back to the default. The answer is all of them."""

    def decide(state: RegistryState) -> Decision[Config]:
        require_writable(state, subject)
        merged = {**state.configs.get(subject, {}), **changes}
        config = {key: value for key, value in merged.items() if value is not None}
        records = [*_new_context(state, subject), config_record(subject, config)]
        return Decision(answer=config, records=[] if config == state.configs.get(subject) else records)

    return decide


def decide_delete_config(subject: str | None) -> Decide[Config]:
    """Go back to the settings around; the answer is what was set."""

    def decide(state: RegistryState) -> Decision[Config]:
        require_writable(state, subject)
        old = state.configs.get(subject)
        if old is None and subject is not None:
            raise subject_not_found(subject)
        records = [config_record(subject, None)] if old is not None else []
        return Decision(answer=state.config_in_scope(None) if old is None else old, records=records)

    return decide


def decide_set_mode(subject: str | None, mode: Mode, *, force: bool) -> Decide[Mode]:
    """Change the mode. IMPORT needs an empty place, unless it is forced: ids of others may be taken there."""

    def decide(state: RegistryState) -> Decision[Mode]:
        is_new_import = mode is Mode.IMPORT and state.mode_in_scope(subject) is not Mode.IMPORT
        records = list(_emptied(state, subject)) if is_new_import and not force else []
        if state.modes.get(subject) is not mode:
            records += [*_new_context(state, subject), mode_record(subject, mode.value)]
        return Decision(answer=mode, records=records)

    return decide


def decide_delete_mode(subject: str | None) -> Decide[Mode]:
    """Go back to the mode around; the answer is what it was."""

    def decide(state: RegistryState) -> Decision[Mode]:
        old = state.modes.get(subject)
        if old is None and subject is not None:
            raise subject_not_found(subject)
        records = [mode_record(subject, None)] if old is not None else []
        return Decision(answer=old or state.mode_in_scope(None), records=records)

    return decide


def _emptied(state: RegistryState, subject: str | None) -> Iterator[TopicRecord]:
    """Softly deleted versions go for good; any other one stands in the way."""
    subjects = state.in_scope(subject)
    for name in subjects:
        if state.has_subject(name):
            raise not_permitted(
                f"Cannot import since found existing subjects, such as '{name}'; delete them, or use force"
            )
    for name in subjects:
        for version in state.versions(name, with_deleted=True):
            for other in state.referring(name, version.version, with_deleted=True):
                if other.subject not in subjects:
                    by = f"version {other.version} of subject '{other.subject}'"
                    raise reference_exists(name, version.version, by)
            yield schema_tombstone(version)
    if subjects:
        yield clear_subject_record(subject)
        yield highest_ids_record(state.highest_ids)


def _new_context(state: RegistryState, subject: str | None) -> Iterator[TopicRecord]:
    context = context_of(subject)
    if context not in (DEFAULT_CONTEXT, GLOBAL_CONTEXT) and context not in state.known_contexts:
        yield context_record(context)
