"""Deleting what nobody reads any more: files that compaction replaced, and those of attempts given up.

A file that the manifest has removed stays for a grace time, since somebody may have begun to read by an older
state. A file that the manifest never named may be one of an attempt that is still running, whose commit comes
in a moment. Only where a later commit shows that it is not does the grace time suffice; otherwise a day has
to pass, as no attempt takes that long.
"""

from collections.abc import Iterable
from typing import NamedTuple

from penstock.spark.archive.commits import Commit, CommitKind
from penstock.spark.archive.manifest import Manifest
from penstock.spark.archive.paths import STAGING, attempt_began_ms, batch_of, hour_of, short_query
from penstock.spark.archive.state import ArchiveState
from penstock.spark.archive.stores.store import Store, StoredFile

DAY_MS = 86_400_000
GRACE_MS = DAY_MS
"""How long replaced files stay unless said otherwise."""

ATTEMPT_MS_MAX = DAY_MS
"""No attempt takes as long as that."""


class Garbage(NamedTuple):
    """What to delete."""

    removed: tuple[str, ...]
    """Files that the manifest has removed; some may be gone already."""
    orphans: tuple[str, ...]
    """Files and directories of attempts that were given up."""


def clean(store: Store, manifest: Manifest, *, grace_ms: int, now_ms: int) -> Garbage:
    """Delete what is due; what was deleted."""
    state = manifest.load()
    garbage = Garbage(
        removed=due_removals(state, grace_ms=grace_ms, now_ms=now_ms),
        orphans=(
            *orphans(state, store.files(""), grace_ms=grace_ms, now_ms=now_ms),
            *_abandoned_staging(store, now_ms=now_ms),
        ),
    )
    for path in (*garbage.removed, *garbage.orphans):
        store.delete(path)
    manifest.commit(lambda latest: _forgetting(latest, garbage.removed, now_ms=now_ms))
    return garbage


def due_removals(state: ArchiveState, *, grace_ms: int, now_ms: int) -> tuple[str, ...]:
    """Removed files whose grace time is over."""
    return tuple(sorted(path for path, at_ms in state.removed.items() if at_ms + grace_ms <= now_ms))


def orphans(
    state: ArchiveState, found: Iterable[StoredFile], *, grace_ms: int, now_ms: int
) -> tuple[str, ...]:
    """Files that no commit names, and that none will name."""
    finished = {short_query(query): batch_id for query, batch_id in state.batches.items()}
    return tuple(
        file.path
        for file in found
        if hour_of(file.path) is not None
        and file.path not in state.files
        and file.path not in state.removed
        and file.modified_ms + _patience_ms(file.path, finished, grace_ms=grace_ms) <= now_ms
    )


def _patience_ms(path: str, finished: dict[str, int], *, grace_ms: int) -> int:
    batch = batch_of(path)
    if batch is not None and batch.batch_id < finished.get(batch.query, -1):
        return grace_ms
    return max(grace_ms, ATTEMPT_MS_MAX)


def _abandoned_staging(store: Store, *, now_ms: int) -> list[str]:
    """Directories of attempts that began more than a day ago."""
    return [
        f"{STAGING}/{attempt}"
        for attempt in store.directories(STAGING)
        if attempt_began_ms(attempt) + ATTEMPT_MS_MAX <= now_ms
    ]


def _forgetting(state: ArchiveState, paths: tuple[str, ...], *, now_ms: int) -> Commit:
    still_known = tuple(path for path in paths if path in state.removed)
    return Commit(kind=CommitKind.CLEANING, at_ms=now_ms, forgotten=still_known)
