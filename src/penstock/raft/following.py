"""A node that is told what its log must be: entries, or a snapshot in pieces.

The leader's word counts, but only above what is committed: a leader that contradicts a committed entry is no
leader, and that is a bug to stop at (rule: never truncate below the high watermark).
"""

from penstock.model.errors import InvariantError
from penstock.raft.entry import Entry, SnapshotId
from penstock.raft.messages import AppendEntries, AppendResponse, InstallSnapshot, SnapshotResponse
from penstock.raft.output import InstallOrder, WritePiece
from penstock.raft.state import NodeState


class Following:
    """The part of a node that obeys."""

    __slots__ = ("_expected_position", "_incoming", "_install", "_state")

    def __init__(self, state: NodeState) -> None:
        self._state = state
        #: The snapshot whose pieces are arriving, and where the next one goes.
        self._incoming: SnapshotId | None = None
        self._expected_position = 0
        #: The last piece of a snapshot that is being installed: no entries until that is done.
        self._install: InstallSnapshot | None = None

    def refuse_old_leader(self, request: AppendEntries | InstallSnapshot) -> None:
        """Answer whoever comes with an old term (figure 2): from ours it learns that its time is over."""
        if isinstance(request, InstallSnapshot):
            self._respond_to_piece(request, 0, is_installed=False)
            return
        state = self._state
        state.send_after_persist(
            AppendResponse(
                sender=state.key,
                target=request.sender,
                term=state.term,
                sequence=request.sequence,
                is_accepted=False,
            )
        )

    # Entries

    def on_append(self, request: AppendEntries) -> None:
        """Take entries from the leader of this term."""
        if self._install is not None:
            return
        if request.offset < self._state.log.start_offset:
            # A snapshot has it, which is committed, and the leader has all that is committed.
            self._accept(request, self._state.commit_offset)
        elif self._is_consistent(request):
            end_offset = self._take(request)
            self._commit(request, end_offset)
            self._accept(request, end_offset)
        else:
            self._refuse(request)

    def _is_consistent(self, request: AppendEntries) -> bool:
        """Whether this log has the entry before the new ones: "if not, then it refuses" (section 5.3)."""
        return self._state.log.terms.before(request.offset) == request.previous_term

    def _take(self, request: AppendEntries) -> int:
        """Append what is not there yet; returns up to where this log is the leader's."""
        state = self._state
        for entry in request.entries:
            if self._conflicts(entry):
                state.truncate(entry.offset)
            if entry.offset >= state.log.end_offset:
                state.append(entry)
        return request.entries[-1].end_offset if request.entries else request.offset

    def _conflicts(self, entry: Entry) -> bool:
        """Whether "an existing entry conflicts with a new one": same offset, another term (figure 2).

        Otherwise what is there stays: the request may be an old one, and what follows in the log may have
        been acknowledged since.
        """
        log = self._state.log
        return entry.offset < log.end_offset and log.terms.before(entry.offset + 1) != entry.term

    def _commit(self, request: AppendEntries, end_offset: int) -> None:
        """Follow the leader's commit, but not beyond what is known to be the same (figure 2, rule 5)."""
        self._state.advance_commit(min(request.commit_offset, end_offset))

    def _accept(self, request: AppendEntries, end_offset: int) -> None:
        self._respond(
            AppendResponse(
                sender=self._state.key,
                target=request.sender,
                term=self._state.term,
                sequence=request.sequence,
                is_accepted=True,
                offset=end_offset,
            )
        )

    def _respond(self, response: AppendResponse) -> None:
        """An acknowledgement says "on disk"."""
        self._state.send_after_persist(response)

    def _refuse(self, request: AppendEntries) -> None:
        """Name the last place where the logs may agree."""
        state = self._state
        if request.offset < state.commit_offset:
            raise InvariantError(
                f"leader {request.sender} of term {request.term} has term {request.previous_term} before "
                f"{request.offset}, which is committed here with another"
            )
        hint = state.log.terms.last_place_not_above(request.previous_term, request.offset)
        hint = max(hint, state.commit_offset)
        self._respond(
            AppendResponse(
                sender=state.key,
                target=request.sender,
                term=state.term,
                sequence=request.sequence,
                is_accepted=False,
                offset=hint,
                hint_term=state.log.terms.before(hint) or 0,
            )
        )

    # Snapshots

    def on_snapshot(self, request: InstallSnapshot) -> None:
        """Take a piece of a snapshot."""
        if self._install is not None:
            return
        if self._is_behind(request.snapshot_id):
            self._respond_to_piece(request, request.position, is_installed=True)
            return
        if request.snapshot_id != self._incoming or request.position == 0:
            self._incoming, self._expected_position = request.snapshot_id, 0
        if self._is_next(request):
            self._take_piece(request)
        if self._install is None:
            self._respond_to_piece(request, self._expected_position, is_installed=False)

    def on_installed(self, snapshot_id: SnapshotId) -> None:
        """The snapshot stands in the place of the log, or of its beginning."""
        state = self._state
        request = self._finish_install(snapshot_id)
        if self._keeps_log(snapshot_id):
            state.log.snapshot_taken(snapshot_id, snapshot_id.end_offset)
        else:
            state.log.restart_at(snapshot_id, request.voters)
            state.disk.restart_at(snapshot_id.end_offset)
        state.advance_commit(snapshot_id.end_offset)
        self._respond_to_piece(request, request.size_bytes, is_installed=True)

    def on_unreadable(self, snapshot_id: SnapshotId) -> None:
        """What arrived is no snapshot: once more from the beginning."""
        request = self._finish_install(snapshot_id)
        self._respond_to_piece(request, 0, is_installed=False)

    def _is_behind(self, snapshot_id: SnapshotId) -> bool:
        """Whether everything in it is committed here: to install it would be to go back."""
        return snapshot_id.end_offset <= self._state.commit_offset

    def _is_next(self, request: InstallSnapshot) -> bool:
        return request.position == self._expected_position

    def _take_piece(self, request: InstallSnapshot) -> None:
        orders = self._state.draft.snapshot_orders
        orders.append(
            WritePiece(snapshot_id=request.snapshot_id, position=request.position, data=request.data)
        )
        self._expected_position += len(request.data)
        if request.is_last:
            self._install = request
            keeps_log = self._keeps_log(request.snapshot_id)
            orders.append(
                InstallOrder(snapshot_id=request.snapshot_id, voters=request.voters, keeps_log=keeps_log)
            )

    def _keeps_log(self, snapshot_id: SnapshotId) -> bool:
        """Whether the snapshot's last entry is in the log: then what follows it is retained (figure 13)."""
        return self._state.log.terms.before(snapshot_id.end_offset) == snapshot_id.term

    def _finish_install(self, snapshot_id: SnapshotId) -> InstallSnapshot:
        request = self._install
        if request is None or request.snapshot_id != snapshot_id:
            raise InvariantError(f"snapshot {snapshot_id} was not being installed")
        self._install = self._incoming = None
        self._expected_position = 0
        return request

    def _respond_to_piece(self, request: InstallSnapshot, position: int, *, is_installed: bool) -> None:
        self._state.send_after_persist(
            SnapshotResponse(
                sender=self._state.key,
                target=request.sender,
                term=self._state.term,
                sequence=request.sequence,
                snapshot_id=request.snapshot_id,
                position=position,
                is_installed=is_installed,
            )
        )
