"""A decision on its way: the ledger as it will be, and the records that will make it so.

Decisions come in steps that build on each other: a member joins, so the epoch grows, so there is another
assignment, so the member is given its part. Each step writes records into the draft and reads the draft's
own ledger; the group's stays as it is until the records come back by way of the log.
"""

from collections.abc import Iterable

from penstock.coordinator.outcome import CoordinatorRecord
from penstock.groups.consumer.ledger import Ledger
from penstock.groups.consumer_records import ConsumerGroupRecord
from penstock.groups.group_record import encoded


class Draft:
    """One decision about one group."""

    __slots__ = ("_is_copied", "_records", "has_seen_topics", "ledger")

    def __init__(self, ledger: Ledger) -> None:
        #: What the group will be. The group's own until something is written: most heartbeats write nothing.
        self.ledger = ledger
        #: Whether it takes account of the topics there are now. Not every decision looks at them.
        self.has_seen_topics = False
        self._is_copied = False
        self._records: list[ConsumerGroupRecord] = []

    @property
    def group_id(self) -> str:
        """The group it is about."""
        return self.ledger.group_id

    def write(self, *records: ConsumerGroupRecord) -> None:
        """Decide on these records."""
        self.extend(records)

    def extend(self, records: Iterable[ConsumerGroupRecord]) -> None:
        """Decide on these records."""
        for record in records:
            if not self._is_copied:
                self.ledger = self.ledger.copy()
                self._is_copied = True
            self.ledger.apply(record)
            self._records.append(record)

    def records(self) -> tuple[CoordinatorRecord, ...]:
        """What is to go into the log."""
        return tuple(map(encoded, self._records))
