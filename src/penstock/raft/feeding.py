"""Bringing other replicas what they lack: a leader's messages to them, and their answers."""

from penstock.model.errors import InvariantError
from penstock.raft.messages import AppendEntries, AppendResponse, InstallSnapshot, SnapshotResponse
from penstock.raft.progress import Mode, OutgoingSnapshot, Progress
from penstock.raft.state import NodeState


class Feeding:
    """Sends what a replica's progress allows."""

    __slots__ = ("_state",)

    def __init__(self, state: NodeState) -> None:
        self._state = state

    def feed(self, progress: Progress) -> None:
        """Send entries, or news of the commit, as far as the replica can take it now."""
        if progress.mode is Mode.SNAPSHOT:
            if progress.sent_at is None:
                self._send_piece(progress)
        elif progress.mode is Mode.PROBING:
            if progress.sent_at is None:
                self._probe(progress)
        else:
            self._stream(progress)

    def beat(self, progress: Progress) -> None:
        """Let it hear from its leader, and repeat what may have been lost."""
        if progress.mode is Mode.SNAPSHOT:
            self._send_piece(progress)
        elif progress.mode is Mode.PROBING:
            self._probe(progress)
        elif not self._begin_snapshot_if_needed(progress):
            self._send_append(progress, with_entries=False)

    def on_append_response(self, progress: Progress, response: AppendResponse) -> None:
        """Note how far it is, or look for the place where it parted from us."""
        if response.is_accepted:
            self._accepted(progress, response)
        elif progress.is_fresh_refusal(response.sequence):
            # Both sides skip all entries of terms the other cannot have there (end of section 5.3).
            progress.probe_from(self._place_to_try(response), first_sequence=self._state.sequence + 1)

    def on_snapshot_response(self, progress: Progress, response: SnapshotResponse) -> None:
        """Go on with the next piece, or with entries again."""
        if progress.mode is not Mode.SNAPSHOT or response.snapshot_id != progress.snapshot.snapshot_id:
            return
        if response.is_installed:
            progress.match_offset = max(progress.match_offset, response.snapshot_id.end_offset)
            progress.probe_from(progress.match_offset, first_sequence=self._state.sequence + 1)
        elif response.sequence >= progress.first_sequence:
            progress.snapshot_position = response.position
            progress.first_sequence = self._state.sequence + 1
            progress.sent_at = None

    def _place_to_try(self, response: AppendResponse) -> int:
        """Where the logs may agree; below the start of this one if they do not in what is left of it."""
        terms = self._state.log.terms
        if response.offset < terms.start_offset:
            return response.offset
        place = terms.last_place_not_above(response.hint_term, response.offset)
        term = terms.before(place)
        return place if term is None or term <= response.hint_term else terms.start_offset - 1

    def _accepted(self, progress: Progress, response: AppendResponse) -> None:
        if response.offset > self._state.log.end_offset:
            raise InvariantError(
                f"{response.sender} claims to match up to {response.offset}, this log ends at "
                f"{self._state.log.end_offset}"
            )
        progress.accepted(response.offset)

    def _probe(self, progress: Progress) -> None:
        if not self._begin_snapshot_if_needed(progress):
            # Entries the first time; a repetition only asks, since nobody may be there to read them. So does
            # a question about a place inside of an entry: another log has an end there, and this one not.
            self._send_append(progress, with_entries=progress.sent_at is None)

    def _stream(self, progress: Progress) -> None:
        state = self._state
        while (
            progress.next_offset < state.log.end_offset
            and len(progress.in_flight) < state.settings.in_flight_max
        ):
            if self._begin_snapshot_if_needed(progress):
                return
            before = progress.next_offset
            self._send_append(progress, with_entries=True)
            if progress.next_offset == before:
                self._feed_around(progress)
                return
        if progress.commit_sent < state.commit_offset and not self._begin_snapshot_if_needed(progress):
            self._send_append(progress, with_entries=False)

    def _feed_around(self, progress: Progress) -> None:
        """What comes next for it cannot be read any more: the snapshot must have it."""
        if progress.next_offset >= self._state.log.snapshot_id.end_offset:
            raise InvariantError(
                f"{progress.key} is to be fed from {progress.next_offset}, where no entry begins"
            )
        self._begin_snapshot(progress)

    def _begin_snapshot_if_needed(self, progress: Progress) -> bool:
        """Whether what comes next for it is no longer in the log."""
        if progress.next_offset >= self._state.log.start_offset:
            return False
        self._begin_snapshot(progress)
        return True

    def _begin_snapshot(self, progress: Progress) -> None:
        log = self._state.log
        progress.send_snapshot(OutgoingSnapshot(log.snapshot_id, log.snapshot_voters))
        self._send_piece(progress)

    def _send_append(self, progress: Progress, *, with_entries: bool) -> None:
        state, offset = self._state, progress.next_offset
        previous_term = state.log.terms.before(offset)
        if previous_term is None:
            raise InvariantError(f"{progress.key} cannot be fed from {offset}, which is not in the log")
        settings = state.settings
        entries = (
            state.log.read(
                offset, bytes_max=settings.append_bytes_max, entries_max=settings.append_entries_max
            )
            if with_entries
            else ()
        )
        sequence = state.next_sequence()
        state.send_now(
            AppendEntries(
                sender=state.key,
                target=progress.key,
                term=state.term,
                sequence=sequence,
                offset=offset,
                previous_term=previous_term,
                commit_offset=state.commit_offset,
                entries=entries,
            )
        )
        end_offset = entries[-1].end_offset if entries else offset
        progress.sent(sequence, end_offset, commit_offset=state.commit_offset, now=state.now)

    def _send_piece(self, progress: Progress) -> None:
        """Send the next piece; a snapshot that was begun is finished as long as it is there."""
        state, log = self._state, self._state.log
        bytes_max = state.settings.snapshot_chunk_bytes
        snapshot = progress.snapshot
        piece = log.read_snapshot(snapshot.snapshot_id, progress.snapshot_position, bytes_max)
        if piece is None:
            snapshot = OutgoingSnapshot(log.snapshot_id, log.snapshot_voters)
            progress.send_snapshot(snapshot)
            piece = log.read_snapshot(snapshot.snapshot_id, 0, bytes_max)
        if piece is None:
            raise InvariantError(f"{progress.key} needs a snapshot, and there is none")
        sequence = state.next_sequence()
        progress.sent_at, progress.sent_sequence = state.now, sequence
        state.send_now(
            InstallSnapshot(
                sender=state.key,
                target=progress.key,
                term=state.term,
                sequence=sequence,
                snapshot_id=snapshot.snapshot_id,
                voters=snapshot.voters,
                position=progress.snapshot_position,
                size_bytes=piece.size_bytes,
                data=piece.data,
            )
        )
