"""The file ``quorum-state``: what a node of the quorum must not forget. Everything here blocks."""

import logging

from penstock.broker.quorum.hard_state_format import decode_hard_state, encode_hard_state
from penstock.raft.hard_state import NEW_HARD_STATE, HardState
from penstock.storage.alternating_file import AlternatingFile
from penstock.storage.filesystem import FileSystem, join_path

logger = logging.getLogger(__name__)

STATE_FILE = "quorum-state"


class StateFile:
    """One node's hard state on disk."""

    def __init__(self, filesystem: FileSystem, directory: str) -> None:
        self._file = AlternatingFile(filesystem, join_path(directory, STATE_FILE))

    def read(self) -> HardState:
        """What was written last; raises if something was and nobody can read it."""
        found = self._file.read()
        if found is None:
            return NEW_HARD_STATE
        if found.other_was_unreadable:
            logger.warning("one copy of the quorum's state was unreadable, and was made anew")
        return decode_hard_state(found.payload)

    def write(self, state: HardState) -> None:
        """Make it durable."""
        self._file.write(encode_hard_state(state))
