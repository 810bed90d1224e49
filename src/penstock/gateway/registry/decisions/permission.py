"""What modes allow."""

from penstock.gateway.registry.errors import not_permitted
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.values.levels import Mode
from penstock.gateway.registry.values.subject_names import context_of


def require_writable(state: RegistryState, subject: str | None) -> None:
    """Refuse any change in read-only mode."""
    mode = state.mode_in_scope(subject)
    if mode.is_read_only:
        raise not_permitted(f"{_noun(subject)} is in read-only mode ({mode})")


def require_read_write(state: RegistryState, subject: str) -> None:
    """Refuse new schemas in any mode but READWRITE."""
    require_writable(state, subject)
    mode = state.mode_in_scope(subject)
    if mode is not Mode.READWRITE:
        raise not_permitted(
            f"{_noun(subject)} is not in read-write mode ({mode}): schemas come with their ids, or not at all"
        )


def require_import(state: RegistryState, subject: str) -> None:
    """Refuse ids of others in any mode but IMPORT."""
    require_writable(state, subject)
    mode = state.mode_in_scope(subject)
    if mode is not Mode.IMPORT:
        raise not_permitted(f"{_noun(subject)} is not in import mode ({mode})")


def _noun(subject: str | None) -> str:
    return "The registry" if subject is None else f"Subject {subject} in context {context_of(subject)}"
