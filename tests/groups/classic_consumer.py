"""A consumer that does by itself what clients do: join, sync, heartbeat, and whatever errors ask of it."""

from dataclasses import dataclass

from tests.groups.actors import Actor

from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.join_group import JoinGroupResponse
from penstock.wire.messages.sync_group import SyncGroupResponse

FATAL = {
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.GROUP_MAX_SIZE_REACHED,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
}
"""What a client does not try again after."""

LOST = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION}
"""What a client gives up its generation for."""


@dataclass
class Consumer:
    """Drives an actor; ``act`` does the next thing it would do."""

    actor: Actor
    #: The last answer was read.
    is_idle: bool = True
    has_assignment: bool = False
    failed_with: int = 0

    def act(self) -> None:
        """Read the answer, if there is one, and go on."""
        if self.failed_with:
            return
        if self.is_idle:
            self._heartbeat() if self.has_assignment else self._join()
        elif self.actor.is_answered:
            self._read(self.actor.shell.answers[self.actor.token])

    def _join(self) -> None:
        self.has_assignment = False
        self.is_idle = False
        self.actor.send_join()

    def _heartbeat(self) -> None:
        self._mind(self.actor.heartbeat())

    def _read(self, response: object) -> None:
        self.is_idle = True
        if isinstance(response, JoinGroupResponse):
            self._read_join(response)
        elif isinstance(response, SyncGroupResponse):
            self.has_assignment = response.error_code == ErrorCode.NONE
            self._mind(response.error_code)

    def _read_join(self, response: JoinGroupResponse) -> None:
        self.actor.joined()
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.actor.member_id = response.member_id
            self._join()
        elif response.error_code == ErrorCode.NONE:
            self.is_idle = False
            self.actor.sync({member.member_id: b"x" for member in response.members})
        else:
            self._mind(response.error_code)

    def _mind(self, code: int) -> None:
        if code in FATAL:
            self.failed_with = code
        elif code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.actor.member_id = ""
        if code != ErrorCode.NONE:
            self.has_assignment = False
