"""The rules of compacted topics, held against logs that break them and logs that do not."""

from dataclasses import replace

from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.sim.storage.invariants import COMPACTED_INVARIANTS
from penstock.sim.storage.model import Entry, PartitionModel, Pass
from penstock.sim.storage.observation import Lookup, Observation, Seen

HOUR_MS = 3_600_000


def entry(base_offset: int, key: bytes, value: bytes | None, *, epoch: int = 0) -> Entry:
    record = NewRecord(key=key, value=value, timestamp=100 + base_offset)
    batch = build_batch([record], base_offset=base_offset, leader_epoch=epoch)
    return Entry(read_header(batch), bytes(batch))


ENTRIES = [
    entry(0, b"a", b"1"),
    entry(1, b"b", b"1"),
    entry(2, b"a", b"2"),
    entry(3, b"c", None),
    entry(4, b"d", b""),
]


def model(*passes: Pass, entries: list[Entry] = ENTRIES, log_start: int = 0) -> PartitionModel:
    return PartitionModel(
        0,
        entries=list(entries),
        acknowledged_end=5,
        log_start=log_start,
        passes=list(passes),
        delete_retention_ms=HOUR_MS,
    )


FIRST, SECOND = Pass(4, 0), Pass(4, HOUR_MS)


def seen(*numbers: int) -> Observation:
    return Observation(
        partition=0,
        log_start=0,
        log_end=5,
        flushed=5,
        batches=tuple(Seen(*ENTRIES[number]) for number in numbers),
        refusals=(),
        offline_reason=None,
        truncation_reported=False,
        producers={},
        epochs=((0, 0),),
        by_offset=(),
        by_time=(),
        nonsense=(),
    )


def broken(observation: Observation, book: PartitionModel) -> set[str]:
    return {rule.name for rule in COMPACTED_INVARIANTS if list(rule.check(book, observation))}


def test_log_without_what_is_superseded_breaks_nothing() -> None:
    assert broken(seen(0, 1, 2, 3, 4), model()) == set()
    assert broken(seen(1, 2, 3, 4), model(FIRST)) == set()
    assert broken(seen(1, 2, 4), model(FIRST, SECOND)) == set()


def test_lost_newest_value_is_noticed() -> None:
    assert broken(seen(0, 1, 3, 4), model(FIRST)) == {"newest values are kept"}


def test_loss_where_compaction_never_was_is_noticed() -> None:
    assert "newest values are kept" in broken(seen(1, 2, 3, 4), model())
    assert "offsets ascend" in broken(seen(0, 2, 3, 4), model())


def test_tombstone_that_goes_too_early_is_noticed() -> None:
    assert broken(seen(1, 2, 4), model(FIRST)) == {"newest values are kept"}
    assert broken(seen(1, 2, 4), model(FIRST, Pass(4, HOUR_MS - 1))) == {"newest values are kept"}
    assert broken(seen(1, 2, 4), model(Pass(3, 0), SECOND)) == {"newest values are kept"}


def test_key_that_comes_back_is_noticed() -> None:
    entries = [entry(0, b"c", b"old"), *ENTRIES[1:]]
    observation = replace(seen(1, 2, 4), batches=(Seen(*entries[0]), *seen(1, 2, 4).batches))
    assert broken(observation, model(FIRST, SECOND, entries=entries)) == {"newest values are kept"}


def test_deleted_records_are_not_missed() -> None:
    observation = replace(seen(3, 4), log_start=3)
    assert broken(observation, model(FIRST, log_start=3)) == set()


def test_changed_record_is_noticed() -> None:
    other = entry(1, b"b", b"other")
    observation = replace(seen(1, 2, 3, 4), batches=(Seen(*other), *seen(2, 3, 4).batches))
    assert broken(observation, model(FIRST)) == {"served records are appended records"}


def test_overlapping_batches_are_noticed() -> None:
    assert "offsets ascend" in broken(seen(1, 2, 1, 2, 3, 4), model(FIRST))


def test_log_that_ends_with_a_gap_is_noticed() -> None:
    assert "offsets ascend" in broken(seen(1, 2, 3), model(FIRST))


def test_wrong_epoch_is_noticed() -> None:
    assert broken(replace(seen(1, 2, 3, 4), epochs=((0, 0), (1, 2))), model(FIRST)) == {
        "leader epochs equal the log"
    }


def test_offset_in_a_gap_leads_to_the_next_batch() -> None:
    assert broken(replace(seen(1, 2, 3, 4), by_offset=(Lookup(0, 1),)), model(FIRST)) == set()
    assert broken(replace(seen(1, 2, 3, 4), by_offset=(Lookup(0, 2),)), model(FIRST)) == {
        "indexes agree with the log"
    }
