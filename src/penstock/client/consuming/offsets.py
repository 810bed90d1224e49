"""Where a consumer stands: commits, positions, seeking, pausing, lag."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, OFFSET_INVALID, KafkaError, KafkaException
from confluent_kafka import TopicPartition as RawPartition

from penstock.client.backoff import Backoff, retried
from penstock.client.choices import OffsetResetPolicy
from penstock.client.config.consumer_config import ConsumerConfig
from penstock.client.consuming.lag import Lag
from penstock.client.consuming.message import Message
from penstock.client.consuming.moments import milliseconds
from penstock.client.consuming.progress import Progress
from penstock.client.consuming.rebalancing import Rebalancing
from penstock.client.error_mapping import error_from, translated
from penstock.client.errors import ClosedError, ConfigurationError, PenstockClientError, UnknownTopic
from penstock.client.topic_partition import (
    INT64_MAX,
    Offsets,
    TopicPartition,
    checked_partition,
    partition_of,
    raw_offsets,
    raw_partitions,
)
from penstock.client.trouble import Trouble, logger

CommitChoice = Message | Offsets | None
"""A message, offsets to go on from, or all that was seen."""

_NEWEST, _OLDEST = -1, -2
"""The times that stand for the end and the beginning of a partition."""


class ConsumerOffsets:
    """The half of a consumer that is about offsets."""

    _raw: Any

    def __init__(self, config: ConsumerConfig) -> None:
        self.config = config
        self._trouble = Trouble()
        self._progress = Progress()
        self._rebalancing: Rebalancing | None = None
        self._is_closed = False
        self._why_closed = "The consumer is closed"
        self._is_auto_committing = config.enable_auto_commit and config.group_id is not None
        self._stored: dict[TopicPartition, int] = {}
        self._unassigned: dict[TopicPartition, int] = {}
        """Where partitions start that were assigned by hand, until something is to be read: librdkafka cannot
        seek in what it has only just begun to fetch."""

    # Committing.

    def commit(self, what: CommitChoice = None, *, asynchronous: bool = False) -> None:
        """Commit all that was seen, up to one message, or ``{(topic, partition): next offset}``."""
        self._refuse_closed()
        if self.config.group_id is None:
            raise ConfigurationError("commit needs a group: group_id=None must be text", setting="group_id")
        offsets = self._chosen_offsets(what)
        if not offsets:
            return
        if asynchronous:
            with translated("commit offsets"):
                self._raw.commit(offsets=raw_offsets(offsets), asynchronous=True)
        else:
            self._retried(lambda seconds: self._commit(offsets), self._seconds(None))

    def committed(
        self, partitions: Iterable[tuple[str, int]] | None = None, timeout: float | None = None
    ) -> dict[TopicPartition, int | None]:
        """What the group has committed of these partitions, or of all this consumer has; None for nothing."""
        self._refuse_closed()
        return self._committed(self.assignment() if partitions is None else partitions, timeout)

    def _committed(
        self, partitions: Iterable[tuple[str, int]], timeout: float | None
    ) -> dict[TopicPartition, int | None]:
        asked = raw_partitions(partitions)

        def ask(seconds: float) -> list[Any]:
            with translated("find committed offsets"):
                return self._raw.committed(asked, seconds)  # type: ignore[no-any-return]

        found = self._retried(ask, self._seconds(timeout)) if asked else []
        return {partition_of(each): each.offset if each.offset >= 0 else None for each in _sound(found)}

    def seen_offsets(self) -> Offsets:
        """Up to where the caller has seen every partition, for a transaction."""
        self._refuse_closed()
        if self._is_auto_committing:
            raise ConfigurationError(
                "A consumer whose offsets are part of a transaction must not commit by itself: "
                "enable_auto_commit=True must be False",
                setting="enable_auto_commit",
            )
        return dict(self._progress.seen())

    def group_metadata(self) -> Any:
        """Who it is in its group, for librdkafka."""
        return self._raw.consumer_group_metadata()

    # Standing.

    def assignment(self) -> list[TopicPartition]:
        """The partitions it has now."""
        self._refuse_closed()
        self._assign()
        with translated("find assigned partitions"):
            return [partition_of(each) for each in self._raw.assignment()]

    def position(
        self, partitions: Iterable[tuple[str, int]] | None = None
    ) -> dict[TopicPartition, int | None]:
        """The offset of the message that is read next; None where it is not known yet."""
        named = self._named(partitions)
        with translated("find positions"):
            told = {partition_of(each): each.offset for each in self._raw.position(raw_partitions(named))}
        seen = self._progress.seen()
        began = self._progress.began()
        positions = {}
        for each in named:
            unseen = self._progress.first_unseen(each)
            known = unseen if unseen is not None else seen.get(each, began.get(each, told[each]))
            positions[each] = known if known >= 0 else None
        return positions

    def lag(self, timeout: float | None = None) -> Lag:
        """How many messages behind the end it is, as brokers see the end now."""
        positions = self.position(self.assignment())
        missing = [each for each, position in positions.items() if position is None]
        ends = self._offsets_for_times(dict.fromkeys(positions, _NEWEST), timeout)
        starts = self._starts_of(missing, ends, timeout) if missing else {}
        return Lag(
            {
                each: max(0, ends[each] - (starts[each] if position is None else position))
                for each, position in positions.items()
            }
        )

    # Moving.

    def seek(self, partition: tuple[str, int], offset: int) -> None:
        """Read a partition that it has from this offset on."""
        if not isinstance(offset, int) or not 0 <= offset <= INT64_MAX:
            raise ConfigurationError(f"offset={offset!r} is not allowed: it must be a whole number from 0")
        self._seek({checked_partition(partition): offset})

    def seek_to_beginning(self, partitions: Iterable[tuple[str, int]] | None = None) -> None:
        """Read these partitions, or all that it has, from their first message on.

        Inside ``on_assigned`` all, here and below, are those that come.
        """
        self._seek(self._offsets_for_times(dict.fromkeys(self._movable(partitions), _OLDEST), None))

    def seek_to_end(self, partitions: Iterable[tuple[str, int]] | None = None) -> None:
        """Read only what comes from now on."""
        self._seek(self._offsets_for_times(dict.fromkeys(self._movable(partitions), _NEWEST), None))

    def seek_to_time(
        self,
        when: datetime | int,
        partitions: Iterable[tuple[str, int]] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Read from the first message not older than ``when``, a datetime with time zone or milliseconds."""
        moment = dict.fromkeys(self._movable(partitions), milliseconds(when))
        found = self._offsets_for_times(moment, timeout)
        later = [each for each, offset in found.items() if offset < 0]
        self._seek(found | self._offsets_for_times(dict.fromkeys(later, _NEWEST), timeout))

    def rewind(self) -> None:
        """Go back to what is committed, to read again what came after; an aborted transaction's, say.

        Where nothing is committed it goes back to where it began to read the partition, or last sought.
        """
        committed = self._committed(self._movable(None), None)
        began = self._progress.began()  # What never began has nothing that could be read again.
        starts = {each: began.get(each) if at is None else at for each, at in committed.items()}
        self._seek({each: at for each, at in starts.items() if at is not None})

    def pause(self, partitions: Iterable[tuple[str, int]] | None = None) -> None:
        """Return nothing of these partitions until ``resume``; the consumer stays in its group."""
        self._assign()
        named = self._named(partitions)
        with translated("pause partitions"):
            self._raw.pause(raw_partitions(named))
        for each, offset in self._progress.drop(named).items():
            self._seek_one(each, offset)
            self._progress.begin({each: self._progress.began().get(each, offset)})

    def resume(self, partitions: Iterable[tuple[str, int]] | None = None) -> None:
        """Go on with these partitions, or all."""
        self._assign()
        with translated("resume partitions"):
            self._raw.resume(raw_partitions(self._named(partitions)))

    # Inside.

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise ClosedError(self._why_closed)

    def _assign(self) -> None:
        """Begin to fetch what was assigned by hand."""
        if self._unassigned:
            chosen = self._unassigned | self._known_starts()
            self._progress.begin(chosen)
            self._unassigned = {}
            with translated("assign partitions"):
                self._raw.assign(raw_offsets(chosen))

    def _known_starts(self) -> dict[TopicPartition, int]:
        """Where partitions start for which nobody gave an offset.

        librdkafka would ask for committed offsets as well, but once only: it waits for ever if just then
        their coordinator is not ready.
        """
        unsaid = [each for each, offset in self._unassigned.items() if offset == OFFSET_INVALID]
        committed = self._committed(unsaid, None) if unsaid and self.config.group_id is not None else {}
        logical = {OffsetResetPolicy.EARLIEST: OFFSET_BEGINNING, OffsetResetPolicy.LATEST: OFFSET_END}
        otherwise = logical.get(OffsetResetPolicy(self.config.auto_offset_reset), OFFSET_INVALID)
        return {each: otherwise if (at := committed.get(each)) is None else at for each in unsaid}

    def _named(self, partitions: Iterable[tuple[str, int]] | None) -> list[TopicPartition]:
        self._refuse_closed()
        if partitions is not None:
            return [checked_partition(each) for each in partitions]
        return list(self._unassigned) or self.assignment()

    def _movable(self, partitions: Iterable[tuple[str, int]] | None) -> list[TopicPartition]:
        """As ``_named``; but while partitions are coming, nothing else is meant by all."""
        if partitions is None and self._rebalancing is not None and self._rebalancing.coming:
            return list(self._rebalancing.coming)
        return self._named(partitions)

    def _chosen_offsets(self, what: CommitChoice) -> Offsets:
        if what is None:
            return dict(self._progress.seen())
        if isinstance(what, Message):
            return {what.topic_partition: what.offset + 1}
        if isinstance(what, Mapping):
            return what
        raise ConfigurationError(f"Cannot commit {what!r}: give a message or {{(topic, partition): offset}}")

    def _commit(self, offsets: Offsets) -> None:
        with translated("commit offsets"):
            _sound(self._raw.commit(offsets=raw_offsets(offsets), asynchronous=False))

    def _store(self, offsets: dict[TopicPartition, int]) -> None:
        """Let the next automatic commit have them; what was stored is not stored again."""
        new = {each: offset for each, offset in offsets.items() if self._stored.get(each) != offset}
        if not new:
            return
        try:
            self._raw.store_offsets(offsets=raw_offsets(new))
        except KafkaException as error:
            if error.args[0].code() != KafkaError._STATE:
                raise error_from(error.args[0], doing="store offsets") from error
            logger.debug("partitions were lost before their offsets were stored: %s", sorted(new))
        self._stored.update(new)

    def _forget(self, partitions: Collection[TopicPartition]) -> None:
        """They are somebody else's, or will be read from somewhere else."""
        self._progress.forget(partitions)
        for each in partitions:
            self._stored.pop(each, None)

    def _seek(self, offsets: Offsets) -> None:
        for each, offset in offsets.items():
            partition = checked_partition(each)
            self._forget([partition])
            if self._rebalancing is not None and partition in self._rebalancing.coming:
                self._rebalancing.starts[partition] = offset
            elif partition in self._unassigned:
                self._unassigned[partition] = offset
            else:
                self._seek_one(partition, offset)
            self._progress.begin({partition: offset})

    def _seek_one(self, partition: TopicPartition, offset: int) -> None:
        """A partition that was only just assigned cannot be moved yet: try again."""

        def attempt(_: float) -> None:
            with _not_yet(f"seek in {partition.topic}-{partition.partition}"):
                self._raw.seek(RawPartition(*partition, offset))

        self._retried(attempt, self._seconds(None))

    def _offsets_for_times(self, times: Offsets, timeout: float | None) -> dict[TopicPartition, int]:
        if not times:
            return {}

        def ask(seconds: float) -> list[Any]:
            try:
                with translated(self._trouble.explain("find offsets")):
                    return _sound(self._raw.offsets_for_times(raw_offsets(times), seconds))
            except UnknownTopic as error:
                # librdkafka says so at once of every partition of which it knows no leader just now.
                error.is_retriable = True
                raise

        return {partition_of(each): each.offset for each in self._retried(ask, self._seconds(timeout))}

    def _starts_of(
        self, partitions: Collection[TopicPartition], ends: Offsets, timeout: float | None
    ) -> dict[TopicPartition, int]:
        """Where partitions will start of which nothing was read yet."""
        committed = self.committed(partitions, timeout) if self.config.group_id is not None else {}
        starts = {}
        for each in partitions:
            at = committed.get(each)
            if at is None and self.config.auto_offset_reset == OffsetResetPolicy.EARLIEST:
                at = self._offsets_for_times({each: _OLDEST}, timeout)[each]
            starts[each] = ends[each] if at is None else at
        return starts

    def _seconds(self, timeout: float | None) -> float:
        return self.config.request_timeout_ms / 1000 if timeout is None else timeout

    def _retried(self, call: Any, seconds: float) -> Any:
        backoff = Backoff(first_ms=self.config.retry_backoff_ms, most_ms=self.config.retry_backoff_max_ms)
        return retried(call, seconds=seconds, backoff=backoff)


def _sound(answers: list[Any]) -> list[Any]:
    """The same, unless there is an error among them."""
    for each in answers:
        if each.error is not None:
            raise error_from(each.error, doing=f"deal with offsets of {each.topic}-{each.partition}")
    return answers


@contextmanager
def _not_yet(doing: str) -> Iterator[None]:
    try:
        with translated(doing):
            yield
    except PenstockClientError as error:
        cause = error.__cause__
        if isinstance(cause, KafkaException) and cause.args[0].code() == KafkaError._STATE:
            error.is_retriable = True
        raise
