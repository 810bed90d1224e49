"""What a node of the quorum finds on its disk when it starts, put in order. Everything here blocks.

- No snapshot and no voters: a node that begins a quorum writes the snapshot ``0-0`` with itself as the only
  voter; one that joins knows nothing yet.
- A snapshot that the log does not reach, or disagrees with: a crash came between the two steps of installing
  it, so the log begins anew at its end.
- A damaged log: what was lost may have been vouched for. A quarantine mark is written first, and only then
  the log is cut (disk rule 34): the next crash must not forget. A sole voter has nobody to get it back from,
  so it does not start. To open a log is not to check it all: everything behind the snapshot is checked here.
- An unreadable snapshot: the one before it, with the log from there (disk rules 41 and 42).
"""

import logging
from dataclasses import dataclass, replace

from penstock.broker.quorum.log_traces import find_traces
from penstock.broker.quorum.snapshot_format import SnapshotContent
from penstock.broker.quorum.snapshot_store import SnapshotStore
from penstock.broker.quorum.state_file import StateFile
from penstock.metadata.image import ClusterImage
from penstock.model.errors import CorruptLogError, StorageError
from penstock.model.ids import Offset
from penstock.raft.batches import entries_of
from penstock.raft.entry import NO_SNAPSHOT, Entry, SnapshotId
from penstock.raft.hard_state import HardState
from penstock.raft.replica import ReplicaKey, Voter
from penstock.raft.restored import Restored
from penstock.raft.voters import NO_VOTERS, VoterSet
from penstock.records.batch import read_header, split_batches
from penstock.records.control import ControlType, decode_control_record
from penstock.storage.filesystem import FileSystem
from penstock.storage.log import Log
from penstock.storage.log_directory import LogDirectory

logger = logging.getLogger(__name__)

READ_BYTES = 1024 * 1024

_WAY_OUT = (
    "Restore the data directory from a backup, or let this node join its cluster anew with an empty one."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredDisk:
    """The disk, in order, and what it says."""

    log: Log
    state_file: StateFile
    snapshots: SnapshotStore
    restored: Restored
    #: As of the snapshot.
    image: ClusterImage


class Restoring:
    """One start."""

    def __init__(
        self,
        filesystem: FileSystem,
        directory: LogDirectory,
        log: Log,
        *,
        founder: Voter | None,
        key: ReplicaKey,
    ) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._log = log
        self._founder = founder
        self._key = key
        self._state_file = StateFile(filesystem, log.directory)
        self._snapshots = SnapshotStore(filesystem, log.directory)

    def run(self) -> RestoredDisk:
        """Put the disk in order, and read it."""
        hard_state = self._state_file.read()
        snapshot_id, content = self._find_snapshot()
        if self._log.is_offline:
            # Opening it has found the first damage above what was durable; there may be some below.
            self._log.look_for_damage(snapshot_id.end_offset)
            hard_state = self._quarantine(hard_state, content.voters)
        try:
            restored = self._restored(hard_state, snapshot_id, content.voters)
        except CorruptLogError:
            self._log.look_for_damage(snapshot_id.end_offset)
            if not self._log.is_offline:
                raise
            hard_state = self._quarantine(hard_state, content.voters)
            restored = self._restored(hard_state, snapshot_id, content.voters)
        return RestoredDisk(
            log=self._log,
            state_file=self._state_file,
            snapshots=self._snapshots,
            restored=restored,
            image=content.image,
        )

    # The snapshot

    def _find_snapshot(self) -> tuple[SnapshotId, SnapshotContent]:
        """The newest one that can be read, if the log goes on from there."""
        ids = self._snapshots.ids
        for snapshot_id, content in self._snapshots.readable():
            if snapshot_id == ids[-1]:
                return snapshot_id, content
            if snapshot_id.end_offset >= self._log.log_start_offset:
                for unreadable in ids[ids.index(snapshot_id) + 1 :]:
                    self._snapshots.discard(unreadable)
                return snapshot_id, content
        if ids or self._log.log_start_offset > 0:
            raise StorageError(
                f"No snapshot of the metadata in {self._log.directory} is readable that its log follows. "
                f"{_WAY_OUT}"
            )
        return NO_SNAPSHOT, self._first_content()

    def _first_content(self) -> SnapshotContent:
        """What is known before the first entry."""
        content = SnapshotContent(voters=NO_VOTERS, image=ClusterImage())
        if self._founder is None:
            return content
        self._check_may_found()
        content = replace(content, voters=VoterSet((self._founder,)))
        found_quorum(self._snapshots, self._founder)
        return content

    def _check_may_found(self) -> None:
        """A log that a leader of a quorum has begun belongs to that quorum; only its voters are unknown."""
        if self._log.is_offline:
            raise damaged_error(self._log)
        if self._log.log_end_offset == 0:
            return
        first = self._log.read(0, max_bytes=1, end_offset=self._log.log_end_offset).read_bytes()
        if read_header(first).is_control:
            raise StorageError(
                f"{self._log.directory} holds the log of a quorum, but nothing that says who its voters are. "
                f"{_WAY_OUT}"
            )

    # The log

    def _quarantine(self, hard_state: HardState, voters: VoterSet) -> HardState:
        """Vouch for nothing until everything that may be lost is back; then cut the log before the damage."""
        traces = find_traces(self._filesystem, self._directory, self._log)
        latest = traces.voters or voters
        if latest.keys in ((), (self._key,)):
            raise damaged_error(self._log)
        mark = max(hard_state.quarantined_below, traces.end_offset)
        logger.error(
            "metadata log is damaged: this node has no vote until it has everything again",
            extra={"reason": self._log.refusal, "quarantined_below": mark},
        )
        quarantined = replace(hard_state, quarantined_below=mark)
        self._state_file.write(quarantined)
        lower = self._directory.begin_lower(self._log, Offset(self._log.repair_offset))
        job = self._log.begin_repair(lower.run)
        if job is not None:
            job.run()
            self._log.finish_repair(job)
        self._directory.finish_lower(lower)
        return quarantined

    def _log_reaches(self, snapshot_id: SnapshotId) -> bool:
        """Whether the log has the snapshot's last entry, or begins behind it."""
        log, end_offset = self._log, snapshot_id.end_offset
        if not log.log_start_offset <= end_offset <= log.log_end_offset:
            return False
        if end_offset == log.log_start_offset:
            return True
        return log.leader_epochs.epoch_at(end_offset - 1) == snapshot_id.term

    def _restart_log(self, offset: int) -> None:
        logger.info("metadata log begins anew behind its snapshot", extra={"offset": offset})
        lower = self._directory.begin_lower(self._log, Offset(offset))
        lower.run()
        self._log.restart(offset)
        self._directory.finish_lower(lower)

    # What the machine wants to know

    def _restored(self, hard_state: HardState, snapshot_id: SnapshotId, voters: VoterSet) -> Restored:
        """All of it, with a log that begins or goes on where the snapshot ends."""
        log = self._log
        if not self._log_reaches(snapshot_id):
            self._restart_log(snapshot_id.end_offset)
        start_offset, base_term = self._machine_start(snapshot_id)
        starts = [(int(start.epoch), int(start.start_offset)) for start in log.leader_epochs.starts]
        inside = [start for start in starts if start[1] > start_offset]
        if start_offset < log.log_end_offset:
            inside.insert(0, (log.leader_epochs.epoch_at(start_offset), start_offset))
        return Restored(
            hard_state=hard_state,
            snapshot_id=snapshot_id,
            voters=voters,
            log_start_offset=start_offset,
            base_term=base_term,
            log_end_offset=log.log_end_offset,
            term_starts=tuple(inside),
            voter_entries=self._voter_entries(snapshot_id.end_offset),
        )

    def _machine_start(self, snapshot_id: SnapshotId) -> tuple[int, int]:
        """Where the log starts for the machine, which must know the term of the entry before.

        The log forgets that when its beginning goes. Its first entry then stands for what was before.
        """
        start_offset = self._log.log_start_offset
        if start_offset == 0:
            return 0, 0
        if start_offset == snapshot_id.end_offset:
            return start_offset, snapshot_id.term
        found = self._log.read(start_offset, max_bytes=1, end_offset=self._log.log_end_offset)
        header = read_header(found.read_bytes())
        return header.next_offset, header.leader_epoch

    def _voter_entries(self, offset: int) -> tuple[Entry, ...]:
        """Every change of voters from ``offset`` on; all batches are checked on the way."""
        entries: list[Entry] = []
        while offset < self._log.log_end_offset:
            found = self._log.read(offset, max_bytes=READ_BYTES, end_offset=self._log.log_end_offset)
            self._log.verify(found)
            data = memoryview(found.read_bytes())
            for position, header in split_batches(data):
                if header.is_control and decode_control_record(data, position)[0] is ControlType.KRAFT_VOTERS:
                    entries += entries_of(data[position : position + header.size_bytes])
                offset = header.next_offset
        return tuple(entries)


def found_quorum(snapshots: SnapshotStore, founder: Voter) -> None:
    """Begin a quorum: write the snapshot from before the first entry, with the founder as its only voter."""
    snapshots.write(NO_SNAPSHOT, SnapshotContent(voters=VoterSet((founder,)), image=ClusterImage()))


def damaged_error(log: Log) -> StorageError:
    """The metadata log is authoritative: a damaged one is no basis to serve anything."""
    return StorageError(
        f"The metadata log is damaged ({log.refusal}). Topics cannot be known without it: restore "
        f"{log.directory} from a backup. Nothing has been changed."
    )
