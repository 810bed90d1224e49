"""Mistakes that people make with brokers, to be planted on purpose.

Each replaces a function of the broker, or of what it is made of, for the time of a run: the broker itself has
no switches for it. A bug that no seed notices says that an invariant is not really checked; the table that
``python -m penstock.sim cluster-bugs`` prints is the simulator's own test.
"""

from contextlib import AbstractContextManager
from typing import Any

from penstock.broker import transaction_markers, transactional_appends
from penstock.broker.coordination import shard_host, shard_loading
from penstock.broker.coordination.shard_host import ShardHost
from penstock.broker.partition import Partition
from penstock.broker.quorum.quorum_disk import QuorumDisk
from penstock.coordinator.outcome import Outcome
from penstock.groups.live_group import LiveGroup
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, FlushFailedError
from penstock.sim import planting
from penstock.sim.cluster import quorum_bugs, replication_bugs
from penstock.sim.planting import Bug, Function, Swap, always, nothing, replaced
from penstock.sim.runtime.descriptor_flusher import SimulatedDescriptorFlusher
from penstock.storage import derived_state, log
from penstock.storage.filesystem import File
from penstock.storage.flush_job import FlushJob
from penstock.storage.memory_filesystem import MemoryFile, MemoryFileSystem
from penstock.storage.producer_state import ProducerStates
from penstock.storage.readable_log import ReadableLog
from penstock.storage.segment import LOG_SUFFIX
from penstock.transactions.shard import TransactionShard


def _retry_flush(original: Function) -> Function:
    def flush(self: MemoryFile) -> None:
        try:
            original(self)
        except FlushFailedError:
            self._flush_failure = None
            original(self)

    return flush


def _open_without_rewriting(original: Function) -> Function:
    """Recovery's writes and flushes of log files do nothing: what the page cache shows is believed."""

    def open_files(*arguments: Any, **options: Any) -> object:
        with (
            replaced(Swap(MemoryFile, "write", _except_logs)),
            replaced(Swap(MemoryFile, "flush", _except_logs)),
        ):
            return original(*arguments, **options)

    return open_files


def _except_logs(original: Function) -> Function:
    def replacement(self: File, *arguments: Any) -> None:
        if not self.path.endswith(LOG_SUFFIX):
            original(self, *arguments)

    return replacement


def _settle_at_once(original: Function) -> Function:
    def await_safety(self: Partition, outcome: Any, *, is_replicated: bool) -> None:
        outcome.settle(ErrorCode.NONE)

    return await_safety


def _answer_at_once(original: Function) -> Function:
    def take(self: ShardHost, outcome: Outcome) -> None:
        decided = shard_host._Decided(self, outcome, self._claim(outcome.replies))
        try:
            self._append(outcome)
        except ApiError as error:
            decided.settle(error.code)
            return
        decided.settle(ErrorCode.NONE)

    return take


def _skip_transactional(original: Function) -> Function:
    def replay_batch(shard: Any, data: bytes, position: int, header: Any) -> None:
        if not header.is_transactional:
            original(shard, data, position, header)

    return replay_batch


def _skip_markers(original: Function) -> Function:
    def replay_marker(shard: Any, data: bytes, position: int) -> None:
        return None

    return replay_marker


def _stable_is_high(original: property) -> property:
    return property(lambda self: self.high_watermark)


def _high_is_end(original: property) -> property:
    return property(lambda self: self.log.log_end_offset)


def _report_unwritten(original: Function) -> Function:
    """Report a round of orders as durable when it has only begun."""

    def begin_round(self: QuorumDisk) -> None:
        original(self)
        if self._round is not None:
            self._round.is_state_written = True
            self._round.end_offset = 0
            self._end_round_if_done()

    return begin_round


def _believe_marker(original: Function) -> Function:
    """Judge by what the log knows of the producer, though it could not write that."""

    def write(*arguments: Any) -> object:
        with replaced(Swap(ReadableLog, "refusal", lambda _: None)):
            return original(*arguments)

    return write


def _any_epoch(original: Function) -> Function:
    def check(self: ProducerStates, header: Any) -> object:
        producer = self.get(header.producer_id)
        if producer is not None and header.producer_epoch < producer.epoch:
            return None
        return original(self, header)

    return check


def _word_only_to_add(original: Function) -> Function:
    def is_word_needed(broker: Any, *, is_verify_only: bool) -> bool:
        return not is_verify_only and bool(original(broker, is_verify_only=is_verify_only))

    return is_word_needed


def _loads_nothing(original: Function) -> Function:
    async def load(shard: Any, partition: Partition, workers: Any, *, leader_epoch: int) -> None:
        return None

    return load


_OF_ONE_BROKER: dict[str, Bug] = {
    "ack-before-flush": Bug(
        "batches count as durable when they are written",
        (Swap(FlushJob, "flush", nothing), Swap(SimulatedDescriptorFlusher, "_flush_one", nothing)),
    ),
    "ack-before-write": Bug(
        "producers are answered before anything is written",
        (Swap(Partition, "await_safety", _settle_at_once),),
    ),
    "shown-before-flush": Bug(
        "consumers are shown what is not flushed", (Swap(Partition, "high_watermark", _high_is_end),)
    ),
    "coordinator-answers-early": Bug(
        "coordinators answer before what they decided is committed",
        (Swap(ShardHost, "_take", _answer_at_once),),
    ),
    "coordinator-loads-nothing": Bug(
        "coordinators begin with nothing after a restart", (Swap(shard_host, "load_shard", _loads_nothing),)
    ),
    "pending-offsets-forgotten": Bug(
        "offsets committed in transactions are not read again after a restart",
        (Swap(shard_loading, "_replay_batch", _skip_transactional),),
    ),
    "offset-markers-forgotten": Bug(
        "the ends of transactions are not read again by groups after a restart",
        (Swap(shard_loading, "_replay_marker", _skip_markers),),
    ),
    "metadata-unflushed": Bug(
        "changes of metadata are answered before they are flushed",
        (Swap(QuorumDisk, "begin_round", _report_unwritten),),
    ),
    "stable-offset-too-high": Bug(
        "readers of committed records get everything",
        (Swap(Partition, "last_stable_offset", _stable_is_high),),
    ),
    "aborted-unlisted": Bug(
        "readers of committed records are not told what was aborted",
        (Swap(ReadableLog, "aborted_transactions", always([])),),
    ),
    "marker-believed": Bug(
        "a marker that could not be written counts as written",
        (Swap(transaction_markers, "_append", _believe_marker),),
    ),
    "transactions-never-expire": Bug(
        "transactions of dead producers stay open", (Swap(TransactionShard, "next_deadline", always(None)),)
    ),
    "unverified-appends": Bug(
        "batches of the older transactions are taken without asking the coordinator",
        (Swap(transactional_appends, "is_word_needed", _word_only_to_add),),
    ),
    "epochs-unchecked": Bug(
        "batches of an older producer epoch are taken", (Swap(ProducerStates, "check", _any_epoch),)
    ),
    "late-batches-taken": Bug(
        "both of these at once: nothing keeps out batches of transactions that are over",
        (
            Swap(transactional_appends, "is_word_needed", _word_only_to_add),
            Swap(ProducerStates, "check", _any_epoch),
        ),
    ),
    "sequences-unchecked": Bug(
        "a producer's sequence is not looked at", (Swap(ProducerStates, "check", always(None)),)
    ),
    "producers-not-replayed": Bug(
        "producers are taken from a snapshot, without the batches behind it",
        (Swap(derived_state, "_replay", nothing),),
    ),
    "generations-unchecked": Bug(
        "members of older generations may commit", (Swap(LiveGroup, "check_generation", nothing),)
    ),
    "flush-retried": Bug(
        "a failed flush is tried again, and believed the second time",
        (Swap(MemoryFile, "flush", _retry_flush),),
    ),
    "page-cache-trusted": Bug(
        "what a start reads after a crash is not written and flushed again",
        (Swap(log, "open_files", _open_without_rewriting),),
    ),
    "directories-unsynced": Bug(
        "names are never made durable", (Swap(MemoryFileSystem, "sync_directory", nothing),)
    ),
}

BUGS: dict[str, Bug] = _OF_ONE_BROKER | replication_bugs.BUGS | quorum_bugs.BUGS


def planted(name: str | None) -> AbstractContextManager[None]:
    """Have the bug of that name, or none, inside the block."""
    return planting.planted(BUGS[name] if name else None)
