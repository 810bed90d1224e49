"""The log against the simplest log there is: a list of batches, and a note of what was promised."""

import contextlib

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.storage.log_testing import make_batch, make_disk, make_log, open_log, put, read_all

from penstock.model.errors import DiskFullError
from penstock.records.batch import read_header
from penstock.storage.log import CheckpointJob, FlushJob, Log
from penstock.storage.log_config import FOREVER_MS, LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped


class LogMachine(RuleBasedStateMachine):
    """Appends, flushes, cuts and crashes in any order: nothing promised is lost, nothing invented."""

    disk: MemoryFileSystem
    log: Log

    @initialize(
        seed=st.integers(0, 2**32),
        segment_bytes=st.sampled_from([300, 1_000, 100_000]),
        index_interval_bytes=st.sampled_from([0, 200, 4096]),
        flush_messages=st.sampled_from([1, 1, 3]),
        preallocate=st.booleans(),
        tail_bytes=st.sampled_from([0, 500, 1_000_000]),
    )
    def start(
        self,
        seed: int,
        segment_bytes: int,
        index_interval_bytes: int,
        flush_messages: int,
        preallocate: bool,
        tail_bytes: int,
    ) -> None:
        self.disk = make_disk(seed)
        self.tail_bytes = tail_bytes
        self.config = LogConfig(
            segment_bytes=segment_bytes,
            segment_ms=FOREVER_MS,
            retention_ms=-1,
            index_interval_bytes=index_interval_bytes,
            flush_messages=flush_messages,
            preallocate=preallocate,
        )
        self.log = make_log(self.disk, self.config, tail_bytes=tail_bytes)
        self.batches: list[bytes] = []
        self.acknowledged = 0
        self.epoch = 0
        self.sequence = 0
        self.checkpoint = (0, 0)
        self.synced_seal = 0
        self.job: FlushJob | None = None
        self.checkpoint_job: CheckpointJob | None = None

    def content(self, end_offset: int) -> bytes:
        start = self.log.log_start_offset
        headers = [(read_header(batch), batch) for batch in self.batches]
        return b"".join(b for h, b in headers if h.next_offset > start and h.next_offset <= end_offset)

    @rule(
        count=st.integers(1, 3),
        size=st.sampled_from([0, 30, 600]),
        idempotent=st.booleans(),
        timestamp=st.integers(1_000, 1_090),
    )
    def append(self, count: int, size: int, idempotent: bool, timestamp: int = 1_050) -> None:
        producer = (7, 0, self.sequence) if idempotent else (-1, -1, -1)
        values = [bytes([len(self.batches) % 255 + 1]) * size for _ in range(count)]
        batch = make_batch(*values, timestamp=timestamp, producer=producer)
        result = put(self.log, batch, leader_epoch=self.epoch)
        assert not result.is_duplicate
        assert result.last_offset == result.base_offset + count - 1
        self.sequence += count if idempotent else 0
        self.batches.append(bytes(batch))

    @rule(sizes=st.lists(st.sampled_from([0, 30, 150]), min_size=2, max_size=8), idempotent=st.booleans())
    def append_many_while_a_job_is_under_way(self, sizes: list[int], idempotent: bool) -> None:
        for number, size in enumerate(sizes):
            if number == 2:
                self.begin_flush()
            self.append(count=1, size=size, idempotent=idempotent)

    @rule()
    def retry_the_last_batch(self) -> None:
        producer = self.log.producers.get(7)
        if producer is not None and producer.last_batch is not None:
            last = producer.last_batch
            count = last.last_sequence - last.base_sequence + 1
            batch = make_batch(*[b"again"] * count, producer=(7, 0, last.base_sequence))
            result = put(self.log, batch)
            assert result.is_duplicate
            assert result.last_offset == last.last_offset

    @rule()
    def flush(self) -> None:
        self.finish_jobs()
        self.begin_flush()
        self.finish_jobs()

    @rule()
    def begin_flush(self) -> None:
        if self.job is None:
            self.job = self.log.begin_flush()

    @rule()
    def begin_checkpoint(self) -> None:
        if self.checkpoint_job is None:
            self.checkpoint_job = self.log.begin_checkpoint()

    @rule(checkpoint_first=st.booleans())
    def finish_jobs(self, checkpoint_first: bool = False) -> None:
        if checkpoint_first:
            self.finish_checkpoint()
        if self.job is not None:
            self.job.run()
            self.log.finish_flush(self.job)
            self.job = None
        self.finish_checkpoint()
        self.acknowledged = max(self.acknowledged, self.log.recovery_point)

    def finish_checkpoint(self) -> None:
        if self.checkpoint_job is not None:
            self.checkpoint_job.run()
            self.log.finish_checkpoint(self.checkpoint_job)
            self.checkpoint_job = None

    @rule()
    def bump_epoch(self) -> None:
        self.epoch += 1

    @rule()
    def write_checkpoints(self) -> None:
        self.begin_checkpoint()
        self.finish_checkpoint()
        self.checkpoint = (self.log.recovery_point, self.log.log_start_offset)

    @rule()
    def sync_seal(self) -> None:
        self.synced_seal = self.log.recovery_point

    @rule(part=st.floats(0, 1))
    def delete_records(self, part: float) -> None:
        self.flush()
        start = self.log.log_start_offset
        self.log.advance_log_start(start + int(part * (self.log.recovery_point - start)))
        self.checkpoint = (self.checkpoint[0], self.log.log_start_offset)
        job = self.log.expire(now=1, high_watermark=self.log.flushed_offset)
        if job is not None:
            assert job.log_start_offset == self.log.log_start_offset
            job.run()
            job.remove()

    @rule(part=st.floats(0, 1))
    def truncate(self, part: float) -> None:
        self.finish_jobs()
        start = self.log.log_start_offset
        wanted = start + int(part * (self.log.log_end_offset - start))
        if any(h.base_offset < start < h.next_offset for h in map(read_header, self.batches)):
            wanted = self.log.log_end_offset
        border = self.log.border_before(wanted)
        self.checkpoint = (min(self.checkpoint[0], border), self.checkpoint[1])
        self.synced_seal = min(self.synced_seal, border)
        end = self.log.truncate(wanted)
        self.cut_model(end)
        self.acknowledged = end

    def cut_model(self, end: int) -> None:
        self.batches = [batch for batch in self.batches if read_header(batch).next_offset <= end]
        sequences = [header for batch in self.batches if (header := read_header(batch)).producer_id == 7]
        self.sequence = sequences[-1].last_sequence + 1 if sequences else 0

    @rule(room=st.integers(0, 2_000), more=st.integers(0, 3))
    def run_out_of_room(self, room: int, more: int) -> None:
        self.begin_flush()
        for _ in range(more):
            self.append(count=1, size=300, idempotent=True)
        if self.job is None:
            return
        self.disk.capacity_bytes = self.disk.used_bytes + room
        try:
            self.job.run()
        except DiskFullError as error:
            self.log.fail_flush(self.job, error)
            self.job = None
            self.cut_model(self.log.log_end_offset)
            assert read_all(self.log) == self.content(self.log.flushed_offset)
            assert self.log.log_end_offset == self.log.flushed_offset >= self.acknowledged
            self.disk.capacity_bytes = 1 << 30
            self.finish_checkpoint()
            self.log.rewind()
        else:
            self.disk.capacity_bytes = 1 << 30
            self.log.finish_flush(self.job)
            self.job = None

    @rule(
        power=st.booleans(), stops=st.integers(0, 12), operation=st.sampled_from(["flush", "close", "none"])
    )
    def die(self, power: bool, stops: int, operation: str) -> None:
        self.disk.stop_before(self.disk.operation_count + stops)
        try:
            if operation == "flush":
                self.flush()
            elif operation == "close":
                self.finish_jobs()
                self.log.close()
        except MachineStopped:
            pass
        sealed = self.synced_seal if power else max(self.acknowledged, self.synced_seal)
        if power:
            self.disk.power_loss()
        else:
            self.disk.crash()
        self.reopen(clean=False, sealed=sealed, dies_within=stops)

    @rule()
    def restart(self) -> None:
        self.finish_jobs()
        self.log.close()
        self.acknowledged = self.log.log_end_offset
        self.checkpoint = (self.log.recovery_point, self.log.log_start_offset)
        self.disk.power_loss()
        self.reopen(clean=True, sealed=self.acknowledged, dies_within=-1)
        assert self.log.recovery_report.was_clean

    def reopen(self, *, clean: bool, sealed: int, dies_within: int) -> None:
        self.job = self.checkpoint_job = None
        recovery_point, log_start = self.checkpoint
        if dies_within % 3 == 0:
            self.disk.stop_before(self.disk.operation_count + dies_within)
            with contextlib.suppress(MachineStopped):
                open_log(
                    self.disk,
                    self.config,
                    recovery_point=recovery_point,
                    sealed_offset=sealed,
                    log_start_offset=log_start,
                )
            self.disk.power_loss()
        self.log = open_log(
            self.disk,
            self.config,
            recovery_point=recovery_point,
            clean=clean,
            sealed_offset=sealed,
            log_start_offset=log_start,
            tail_bytes=self.tail_bytes,
        )
        assert self.log.recovery_report.damage is None
        assert self.log.log_end_offset >= self.acknowledged
        self.cut_model(self.log.log_end_offset)
        self.acknowledged = self.log.log_end_offset
        assert self.log.log_end_offset == self.log.flushed_offset == self.log.recovery_point

    @invariant()
    def log_equals_model(self) -> None:
        if not hasattr(self, "log"):
            return
        log = self.log
        assert log.log_start_offset <= log.recovery_point <= log.flushed_offset <= log.log_end_offset
        assert read_all(log) == self.content(log.flushed_offset)
        assert read_all(log, max_bytes=300) == self.content(log.flushed_offset)
        producer = log.producers.get(7)
        if producer is not None:
            assert producer.next_sequence == self.sequence
        else:
            assert self.sequence == 0

    @invariant()
    def epochs_equal_those_of_the_batches(self) -> None:
        if hasattr(self, "log"):
            epochs: dict[int, int] = {}
            for batch in self.batches:
                header = read_header(batch)
                if header.next_offset > self.log.log_start_offset:
                    epochs.setdefault(header.leader_epoch, max(header.base_offset, self.log.log_start_offset))
            starts = self.log.leader_epochs.starts
            assert {e: start for e, start in starts if start < self.log.log_end_offset} == epochs

    @precondition(lambda self: hasattr(self, "log"))
    @rule(timestamp=st.integers(990, 1_100))
    def search_by_time(self, timestamp: int) -> None:
        log = self.log
        expected = [
            (header.base_offset + delta, header.base_timestamp + delta)
            for batch in self.batches
            if (header := read_header(batch)).next_offset <= log.flushed_offset
            for delta in range(header.record_count)
            if header.base_timestamp + delta >= timestamp
            and header.base_offset + delta >= log.log_start_offset
        ]
        assert log.offset_for_timestamp(timestamp) == (expected[0] if expected else None)


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(
    max_examples=200, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
