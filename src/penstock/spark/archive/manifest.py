"""The history of an archive: numbered commits, each of which only one writer can make.

``commit`` reads the latest state, asks what is to change, and tries to take the next number. Whoever finds it
taken reads on and asks again, so that several writers, such as a query that archives and a compaction, see
what the others did and never undo it.

Every so many commits there is a snapshot of what all of them come to. What lies behind the last snapshot but
one is deleted then, so the history stays short however long an archive is written. A reader whose files were
deleted under its eyes begins anew.
"""

from collections.abc import Callable

from penstock.model.errors import UsageError
from penstock.spark.archive.commits import Commit, decode_commit, encode_commit
from penstock.spark.archive.errors import ArchiveError, DamagedArchiveError
from penstock.spark.archive.paths import (
    MANIFEST,
    commit_path,
    commit_version,
    snapshot_path,
    snapshot_version,
)
from penstock.spark.archive.state import NO_VERSION, ArchiveState, apply, decode_state, encode_state
from penstock.spark.archive.stores.store import Store

COMMITS_PER_SNAPSHOT = 50
_LOAD_ATTEMPTS_MAX = 5
_COMMIT_ATTEMPTS_MAX = 100

Decide = Callable[[ArchiveState], Commit]
"""What to commit on top of a state; it may raise if it is not possible any more."""


class Manifest:
    """The manifest of the archive in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known = ArchiveState()

    def load(self) -> ArchiveState:
        """The latest state."""
        missing: FileNotFoundError | None = None
        for _ in range(_LOAD_ATTEMPTS_MAX):
            try:
                self._known = self._newest()
            except FileNotFoundError as error:
                # Deleted since the directory was read: then there is a newer snapshot.
                missing = error
                continue
            return self._known
        raise DamagedArchiveError(
            f"The manifest of {self._store.uri('')} is not whole: {missing}. Restore it from a copy: "
            "without it nobody knows which files belong to the archive."
        )

    def commit(self, decide: Decide) -> ArchiveState:
        """Make what ``decide`` says of the latest state the next version; the state with it."""
        for _ in range(_COMMIT_ATTEMPTS_MAX):
            state = self.load()
            commit = decide(state)
            if commit.is_empty:
                return state
            following = apply(state, commit)
            if self._store.create(commit_path(following.version), encode_commit(commit)):
                self._require_readers(following.version)
                self._known = following
                if following.version % COMMITS_PER_SNAPSHOT == 0:
                    self.write_snapshot()
                return following
        raise ArchiveError(
            f"Others were faster at committing to {self._store.uri('')} for {_COMMIT_ATTEMPTS_MAX} times: "
            "let fewer write to it at once."
        )

    def write_snapshot(self) -> None:
        """Write down the state that is known, and delete what nobody needs any more to arrive at it."""
        self._store.create(snapshot_path(self._known.version), encode_state(self._known))
        snapshots = self._versions()[0]
        if len(snapshots) > 1:
            self._forget_before(snapshots[-2])

    def _require_readers(self, version: int) -> None:
        """Raise if a commit that was just made may be one that nobody ever reads.

        A process that was suspended finds its number free although somebody took it, since that commit was
        deleted behind two snapshots. Or those were made after this one, and have it. Who tries again knows by
        what the archive has then, so nothing is undone here.
        """
        snapshots = self._versions()[0]
        if len(snapshots) > 1 and version <= snapshots[-2]:
            raise ArchiveError(
                f"While this process slept, others have committed to {self._store.uri('')} up to "
                f"{snapshots[-1]}, so its own commit {version} may be lost. Start it again: what the archive "
                "has is recognised."
            )

    def _newest(self) -> ArchiveState:
        snapshots, commits = self._versions()
        state = self._known
        if snapshots and snapshots[-1] > state.version:
            path = snapshot_path(snapshots[-1])
            state = decode_state(self._store.read(path), path=path)
        # Reading a directory while it changes may pass over a file, so numbers are counted, not looked up.
        for version in range(state.version + 1, commits[-1] + 1 if commits else 0):
            path = commit_path(version)
            state = apply(state, decode_commit(self._store.read(path), path=path))
        return state

    def _versions(self) -> tuple[list[int], list[int]]:
        """Of all snapshots and of all commits, in order."""
        names = self._store.names(MANIFEST)
        snapshots = (snapshot_version(name) for name in names)
        commits = (commit_version(name) for name in names)
        return (
            sorted(version for version in snapshots if version is not None),
            sorted(version for version in commits if version is not None),
        )

    def _forget_before(self, version: int) -> None:
        snapshots, commits = self._versions()
        for old in (each for each in snapshots if each < version):
            self._store.delete(snapshot_path(old))
        for old in (each for each in commits if each <= version):
            self._store.delete(commit_path(old))


def load(store: Store) -> ArchiveState:
    """The state of an archive that is there; it is a mistake to read one that is not."""
    state = Manifest(store).load()
    if state.version == NO_VERSION:
        raise UsageError(f"There is no archive in {store.uri('')}: nothing was ever committed to it.")
    return state
