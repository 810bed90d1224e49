"""A reply whose answer passes through somebody's hands before it leaves."""

from collections.abc import Callable

from penstock.broker.outbox import Part
from penstock.broker.reply import Reply
from penstock.storage.log_reader import FilePiece


class TappedReply(Reply):
    """Stands in for the reply of a connection; what is sent goes to ``on_send``, who sends it on, or not."""

    __slots__ = ("_on_send", "_original")

    def __init__(self, original: Reply, on_send: Callable[[list[Part]], None]) -> None:
        self._original = original
        self._on_send = on_send
        super().__init__(
            original._connection, original.header, original.frame_bytes, arrived_at=original.arrived_at
        )

    @property
    def when_crowded(self) -> Callable[[], None] | None:
        """Called when another request waits for this one to be answered."""
        return self._original.when_crowded

    @when_crowded.setter
    def when_crowded(self, callback: Callable[[], None] | None) -> None:
        self._original.when_crowded = callback

    @property
    def when_abandoned(self) -> Callable[[], None] | None:
        """Called when the connection has ended before this was answered."""
        return self._original.when_abandoned

    @when_abandoned.setter
    def when_abandoned(self, callback: Callable[[], None] | None) -> None:
        self._original.when_abandoned = callback

    def send(self, parts: list[Part]) -> None:
        """Hand the answer over."""
        self._on_send(parts)


def joined(parts: list[Part]) -> bytes:
    """An answer in one piece, pieces of files included."""
    return b"".join(
        part.file.read(part.position, part.length) if isinstance(part, FilePiece) else bytes(part)
        for part in parts
    )
