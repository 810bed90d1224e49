"""Runs made up for checkers: a small history and the logs it should have led to."""

from collections.abc import Sequence

from penstock.records.batch import BatchHeader, read_header
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.sim.checkers.evidence import Copied, Evidence, FinalLog, Leadership
from penstock.sim.workloads.history import Ending, Function, History, Operation


class Run:
    """Builds evidence step by step; time goes on by one with every step."""

    def __init__(self) -> None:
        self.now = 0.0
        self.history = History(self._tick)
        self.logs: dict[str, FinalLog] = {}
        self.offsets: dict[str, int] = {}
        self.topics: dict[str, int] = {}
        self.copies: tuple[Copied, ...] = ()
        self.configs: dict[str, str | None] = {}
        self.replicas: dict[str, tuple[int, ...]] = {}
        self.leaders: dict[str, Sequence[Leadership]] = {}
        self.finished: dict[str, tuple[str, str]] = {}
        self.finished_groups: frozenset[str] = frozenset()

    def _tick(self) -> float:
        self.now += 1.0
        return self.now

    def did(
        self,
        function: Function,
        key: str,
        *,
        process: str = "p#1",
        value: tuple[object, ...] = (),
        offset: int = -1,
        context: str = "",
        ending: Ending = Ending.OK,
        error: str = "",
        is_weak: bool = False,
    ) -> Operation:
        operation = self.history.begin(
            process, function, key, value=value, offset=offset, context=context, is_weak=is_weak
        )
        self.history.end(operation, ending, error)
        return operation

    def log(
        self,
        name: str,
        records: Sequence[tuple[int, str]],
        committed: Sequence[tuple[int, str]] | None = None,
        headers: Sequence[BatchHeader] = (),
        high_watermark: int | None = None,
    ) -> None:
        self.logs[name] = FinalLog(
            log_start_offset=0,
            high_watermark=len(records) if high_watermark is None else high_watermark,
            records=tuple(records),
            committed=tuple(records if committed is None else committed),
            headers=tuple(headers),
        )

    @property
    def evidence(self) -> Evidence:
        return Evidence(
            history=self.history,
            logs=self.logs,
            offsets=self.offsets,
            topics=self.topics,
            copies=self.copies,
            configs=self.configs,
            replicas=self.replicas,
            leaders=self.leaders,
            finished=self.finished,
            finished_groups=self.finished_groups,
        )


def header(base_offset: int, count: int = 1, *, producer_id: int = -1, sequence: int = -1) -> BatchHeader:
    records = [NewRecord(value=b"x", timestamp=1) for _ in range(count)]
    return read_header(
        build_batch(
            records,
            base_offset=base_offset,
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            base_sequence=sequence,
        )
    )
