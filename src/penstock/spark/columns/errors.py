"""What is said when fetched bytes are no records that can be read: which partition, which offset, and why."""

from dataclasses import dataclass

from penstock.model.errors import OperatingError


class UnreadableRecordsError(OperatingError):
    """Fetched bytes that are not intact record batches of magic 2."""

    def __init__(self, message: str, topic: str = "", partition: int = -1, offset: int = -1) -> None:
        super().__init__(message, topic, partition, offset)
        self.message = message
        self.topic = topic
        self.partition = partition
        self.offset = offset
        """Where the batch begins that cannot be read."""

    def __str__(self) -> str:
        return (
            f"Topic {self.topic!r}, partition {self.partition}, batch at offset {self.offset}: {self.message}"
        )


class MalformedRowError(Exception):
    """A record that cannot be read, by its row among those read together; never leaves this package."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Whose bytes these are."""

    topic: str
    partition: int

    def unreadable(self, offset: int, message: str) -> UnreadableRecordsError:
        """The error to raise for the batch at ``offset``."""
        return UnreadableRecordsError(message, self.topic, self.partition, offset)
