"""Random keyed histories, compacted at random moments, against a dictionary."""

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.strategies import booleans, integers, lists, sampled_from, tuples
from tests.storage.compaction_testing import (
    Pair,
    batches_of,
    compact,
    compacted_config,
    keyed_batch,
    marker,
    new_log,
    roll,
    stable_offset,
)
from tests.storage.log_testing import make_disk, open_log, put, reopen_clean

from penstock.records.compression import Codec
from penstock.records.record import Record
from penstock.storage.log import Log

KEYS = [b"a", b"b", b"c", b"long" * 20]
RETENTION_MS = 3_600_000

pairs = lists(tuples(sampled_from(KEYS), sampled_from([None, b"1", b"2" * 40])), min_size=1, max_size=4)


class CompactedLogMachine(RuleBasedStateMachine):
    """Appends, transactions, passes and restarts; the newest committed value of each key is never lost."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000_000
        #: Every record ever appended, by offset.
        self.appended: dict[int, Record] = {}
        #: Offsets of records that count, in order.
        self.committed: list[int] = []
        self.pending: dict[int, list[int]] = {}
        self.sequences: dict[int, int] = {}
        self.newest_batches: dict[int, tuple[bytes, int]] = {}
        self.log: Log

    @initialize(segment_bytes=sampled_from([150, 400, 2000]))
    def make(self, segment_bytes: int) -> None:
        self.disk = make_disk()
        self.config = compacted_config(segment_bytes=segment_bytes)
        self.log = new_log(self.config, disk=self.disk)

    @rule(pairs=pairs, codec=sampled_from([Codec.NONE, Codec.LZ4]), producer=sampled_from([-1, 1, 2]))
    def append(self, pairs: list[Pair], codec: Codec, producer: int) -> None:
        sequence = self.sequences.get(producer, 0) if producer >= 0 else -1
        batch = keyed_batch(
            *pairs,
            timestamp=self.now,
            codec=codec,
            producer=(producer, 0 if producer >= 0 else -1, sequence),
        )
        sent = bytes(batch)
        base = self._put(batch, pairs)
        if producer >= 0:
            self.sequences[producer] = sequence + len(pairs)
            self.newest_batches[producer] = (sent, base)
        self.committed += range(base, base + len(pairs))

    @rule(pairs=pairs, producer=sampled_from([11, 12]))
    def append_in_transaction(self, pairs: list[Pair], producer: int) -> None:
        sequence = self.sequences.get(producer, 0)
        batch = keyed_batch(*pairs, timestamp=self.now, producer=(producer, 0, sequence), transactional=True)
        base = self._put(batch, pairs)
        self.sequences[producer] = sequence + len(pairs)
        self.pending.setdefault(producer, []).extend(range(base, base + len(pairs)))

    @precondition(lambda self: self.pending)
    @rule(is_commit=booleans())
    def end_transaction(self, is_commit: bool) -> None:
        producer = next(iter(self.pending))
        put(self.log, marker(producer, is_commit=is_commit))
        self._flush()
        offsets = self.pending.pop(producer)
        if is_commit:
            self.committed = sorted(self.committed + offsets)

    @rule(minutes=integers(0, 90), map_bytes=sampled_from([1500, 1 << 20]))
    def compact(self, minutes: int, map_bytes: int) -> None:
        self.now += minutes * 60_000
        compact(self.log, now=self.now, map_bytes=map_bytes)

    @rule()
    def roll(self) -> None:
        roll(self.log)

    @rule(clean=booleans(), power=booleans())
    def restart(self, clean: bool, power: bool) -> None:
        high_watermark = self.log.flushed_offset
        if clean:
            self.log = reopen_clean(self.disk, self.log, self.config)
        else:
            if power:
                self.disk.power_loss()
            else:
                self.disk.crash()
            self.log = open_log(
                self.disk, self.config, recovery_point=0, sealed_offset=high_watermark, tail_bytes=0
            )
        assert self.log.recovery_report.damage is None
        self.log.update_high_watermark(high_watermark)

    @invariant()
    def newest_values_are_there(self) -> None:
        stable = stable_offset(self.log)
        wanted: dict[bytes | None, Record] = {}
        for offset in self.committed:
            if offset < stable:
                wanted[self.appended[offset].key] = self.appended[offset]
        found: dict[bytes | None, Record] = {}
        for record in self._visible(stable):
            found[record.key] = record
        for key, record in wanted.items():
            if record.value is not None:
                assert found.get(key) == record
            else:
                # The tombstone, or nothing at all: never an older value.
                assert found.get(key) in (None, record)
        assert found.keys() <= wanted.keys()

    @invariant()
    def what_is_there_was_appended(self) -> None:
        last = -1
        for header, records in batches_of(self.log):
            assert header.base_offset > last
            last = header.last_offset
            for record in records:
                if not header.is_control:
                    assert self.appended[record.offset] == record
        assert last + 1 == self.log.flushed_offset

    @invariant()
    def retries_are_recognised(self) -> None:
        for sent, base in self.newest_batches.values():
            again = put(self.log, bytearray(sent))
            assert again.is_duplicate
            assert again.base_offset == base

    @invariant()
    def transactions_are_open_or_not(self) -> None:
        first = min((offsets[0] for offsets in self.pending.values()), default=None)
        assert self.log.first_unstable_offset == first

    def _put(self, batch: bytearray, pairs: list[Pair]) -> int:
        base = put(self.log, batch).base_offset
        for number, (key, value) in enumerate(pairs):
            self.appended[base + number] = Record(
                offset=base + number, timestamp=self.now + number, key=key, value=value
            )
        self._flush()
        return base

    def _flush(self) -> None:
        self.log.flush()
        self.log.update_high_watermark(self.log.flushed_offset)

    def _visible(self, stable: int) -> list[Record]:
        """As a reader of committed data: aborted transactions by the index, as the protocol has it."""
        aborted = self.log.aborted_transactions(0, stable)
        visible = []
        for header, records in batches_of(self.log):
            is_aborted = header.is_transactional and any(
                entry.producer_id == header.producer_id
                and entry.first_offset <= header.base_offset < entry.last_offset
                for entry in aborted
            )
            if not header.is_control and not is_aborted:
                visible += [record for record in records if record.offset < stable]
        return visible


CompactedLogMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
test_compacted_log_agrees_with_a_dictionary = CompactedLogMachine.TestCase
