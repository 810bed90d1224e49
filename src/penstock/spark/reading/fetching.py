"""The conversation of a task with the leader of its partition, until it has read its range.

The next fetch is on its way before the last answer is used, so that the broker works while we decode. A
leader that moved, or a connection that broke, is looked up anew, until nothing came for as long as
``kafkaConsumer.pollTimeoutMs`` says. So is one that has nothing: what was planned is there, and a former
leader that follows answers without an error. Every such look comes after a pause, and pauses grow. Invariant:
every offset of the range was either covered by an answer or named as lost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError, OperatingError
from penstock.model.ids import ZERO_TOPIC_ID, TopicId, uuid_from_text
from penstock.spark.columns.batches import whole_batches
from penstock.spark.columns.errors import Origin
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.options.source_options import SourceOptions
from penstock.spark.reading.data_loss import Cause, Loss, handle_loss
from penstock.spark.reading.fetch_size import bytes_to_ask, note_size
from penstock.spark.reading.leaders import forget_leaders, known_leader
from penstock.spark.reading.lookup import Lookup
from penstock.spark.reading.patience import Patience, passes
from penstock.spark.reading.vanished import GONE, find_loss, find_missing_end
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import (
    AbortedTransaction,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
)
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import RefusedError, WireClientError, check
from penstock.wire_client.topics import READ_COMMITTED, READ_UNCOMMITTED

_BY_NAME_VERSION_MAX = 12
"""Of Fetch: the last that knows topics by name."""

_NO_LEADER = -1


class NothingFetchedError(OperatingError):
    """A partition brought nothing for too long, though it should hold more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What one answer brought."""

    records: memoryview
    first_offset: int
    """What was asked for; batches may begin before it."""
    next_offset: int
    """Behind the last whole batch."""
    aborted: Sequence[AbortedTransaction]


class Fetching:
    """Reads one range."""

    def __init__(self, cluster: Cluster, options: SourceOptions, wanted: OffsetRange) -> None:
        self._cluster = cluster
        self._options = options
        self._wanted = wanted
        self._position = wanted.start
        self._origin = Origin(topic=wanted.partition.topic, partition=wanted.partition.partition)
        self._lookup = Lookup(options)
        self._patience = Patience(options.client, limit_ms=options.poll_timeout_ms)
        self._topic_id = ZERO_TOPIC_ID if wanted.topic_id is None else uuid_from_text(wanted.topic_id)

    def answers(self) -> Iterator[Fetched]:
        """What brokers send, in the order of offsets."""
        while self._position < self._wanted.end:
            try:
                yield from self._converse(self._leader())
            except WireClientError as error:
                self._recover(error)
            except NothingFetchedError as error:
                self._lose(find_missing_end(self._lookup, self._remaining()), error)

    def _leader(self) -> Connection:
        node_id = known_leader(self._cluster, self._wanted.partition)
        if node_id is None:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif node_id == _NO_LEADER:
            code = ErrorCode.LEADER_NOT_AVAILABLE
        else:
            return self._cluster.broker(node_id)
        raise RefusedError(code, doing=f"find the leader of {self._wanted.partition}")

    def _converse(self, leader: Connection) -> Iterator[Fetched]:
        """Until all is read, or the leader has nothing; then nothing is owed, and another may be asked."""
        self._ask(leader)
        while (fetched := self._take(leader)) is not None:
            is_more_wanted = self._position < self._wanted.end
            trouble = self._ask_ahead(leader) if is_more_wanted else None
            yield fetched
            if trouble is not None:
                raise trouble
            if not is_more_wanted:
                return

    def _ask_ahead(self, leader: Connection) -> WireClientError | None:
        """Ask for more; what goes wrong must wait until what has come already is handed over."""
        try:
            self._ask(leader)
        except WireClientError as error:
            return error
        return None

    def _ask(self, leader: Connection) -> None:
        is_by_id = self._topic_id != ZERO_TOPIC_ID and leader.version(ApiKey.FETCH) > _BY_NAME_VERSION_MAX
        leader.send(ApiKey.FETCH, self._request(), at_most=None if is_by_id else _BY_NAME_VERSION_MAX)

    def _request(self) -> FetchRequest:
        options, partition = self._options, self._wanted.partition
        size = bytes_to_ask(partition, self._wanted.end - self._position, at_most=options.fetch_bytes_max)
        wanted = FetchPartition(
            partition=partition.partition, fetch_offset=self._position, partition_max_bytes=size
        )
        return FetchRequest(
            max_wait_ms=options.fetch_wait_ms,
            min_bytes=1,
            max_bytes=size,
            isolation_level=READ_COMMITTED if options.is_read_committed else READ_UNCOMMITTED,
            topics=(
                FetchTopic(topic=partition.topic, topic_id=TopicId(self._topic_id), partitions=(wanted,)),
            ),
        )

    def _take(self, leader: Connection) -> Fetched | None:
        """The next answer; the position moves behind it. None if it brought nothing."""
        answer = leader.receive()
        check(answer.error_code, doing=f"fetch from {self._wanted.partition}")
        data: PartitionData = answer.responses[0].partitions[0]
        check(data.error_code, doing=f"fetch from {self._wanted.partition} at offset {self._position}")
        records = memoryview(
            data.records if isinstance(data.records, bytes | bytearray | memoryview) else b""
        )
        asked_offset = self._position
        headers = [header for _, header in whole_batches(records, origin=self._origin)]
        if not headers:
            self._wait(data)
            return None
        self._note_removed(data.log_start_offset, until=headers[0].base_offset)
        self._position = max(self._position, headers[-1].next_offset)
        note_size(self._wanted.partition, self._position - headers[0].base_offset, len(records))
        self._patience.renew()
        aborted = data.aborted_transactions or () if self._options.is_read_committed else ()
        return Fetched(
            records=records, first_offset=asked_offset, next_offset=self._position, aborted=aborted
        )

    def _note_removed(self, log_start_offset: int, *, until: int) -> None:
        """Offsets that are skipped are gone if the log begins behind them; otherwise they were compacted."""
        end = min(log_start_offset, until, self._wanted.end)
        if end > self._position:
            self._lose(
                Loss(partition=self._wanted.partition, start=self._position, end=end, cause=Cause.REMOVED)
            )

    def _wait(self, data: PartitionData) -> None:
        """Ask again whoever leads by then, and give up in the end."""
        forget_leaders(self._cluster)
        self._patience.pause(
            NothingFetchedError(
                f"{self._wanted.partition} brought nothing at offset {self._position} for "
                f"{self._options.poll_timeout_ms} ms (kafkaConsumer.pollTimeoutMs), though it is to be read "
                f"up to offset {self._wanted.end - 1}; its high watermark is {data.high_watermark}."
            )
        )

    def _recover(self, error: WireClientError) -> None:
        """Look whether records are gone, or wait and go on; raise what does not pass."""
        forget_leaders(self._cluster)
        if isinstance(error, RefusedError) and error.code in GONE:
            loss = find_loss(self._lookup, self._remaining())
            if loss is not None:
                self._lose(loss, error)
                return
        elif not passes(error):
            raise error
        self._patience.pause(error)

    def _remaining(self) -> OffsetRange:
        return replace(self._wanted, start=self._position)

    def _lose(self, loss: Loss | None, reason: Exception | None = None) -> None:
        """Go on behind what was lost, if that is allowed; without a loss there is only ``reason`` to tell."""
        if loss is None:
            raise reason or InvariantError("something was lost, but not what")
        handle_loss(loss, self._options.on_data_loss)
        self._position = self._wanted.end if loss.end is None else min(loss.end, self._wanted.end)
        self._patience.renew()
