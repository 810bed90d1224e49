"""Each rule, held against logs that break it and logs that do not."""

from dataclasses import replace

import pytest

from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.sim.storage.invariants import INVARIANTS
from penstock.sim.storage.model import Damaged, Entry, PartitionModel
from penstock.sim.storage.observation import Lookup, Observation, ProducerSeen, Refusal, Seen

OFFSETS = (0, 2, 4)


def entry(base_offset: int, *, sequence: int, epoch: int = 0) -> Entry:
    records = [NewRecord(value=b"%d" % base_offset, timestamp=100 + base_offset + n) for n in range(2)]
    batch = build_batch(
        records,
        base_offset=base_offset,
        producer_id=1000,
        producer_epoch=0,
        base_sequence=sequence,
        leader_epoch=epoch,
    )
    return Entry(read_header(batch), bytes(batch))


ENTRIES = [entry(0, sequence=0), entry(2, sequence=2), entry(4, sequence=4, epoch=3)]


def model(**changes: object) -> PartitionModel:
    made = PartitionModel(0, entries=list(ENTRIES), acknowledged_end=6)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


SOUND = Observation(
    partition=0,
    log_start=0,
    log_end=6,
    flushed=6,
    batches=tuple(Seen(*each) for each in ENTRIES),
    refusals=(),
    offline_reason=None,
    truncation_reported=False,
    producers={1000: ProducerSeen(0, 5, 5)},
    epochs=((0, 0), (3, 4)),
    by_offset=(Lookup(0, 0), Lookup(3, 2), Lookup(5, 4)),
    by_time=(Lookup(0, 0), Lookup(103, 3), Lookup(105, 5), Lookup(106, None)),
    nonsense=(),
)


def broken(seen: Observation, book: PartitionModel | None = None) -> set[str]:
    return {rule.name for rule in INVARIANTS if list(rule.check(book or model(), seen))}


def test_sound_log_breaks_nothing() -> None:
    assert broken(SOUND) == set()


def test_empty_log_breaks_nothing() -> None:
    empty = replace(
        SOUND, log_end=0, flushed=0, batches=(), producers={}, epochs=(), by_offset=(), by_time=()
    )
    assert broken(empty, PartitionModel(0)) == set()


LAST_LOST = replace(
    SOUND,
    log_end=4,
    flushed=4,
    batches=SOUND.batches[:2],
    producers={1000: ProducerSeen(0, 3, 3)},
    epochs=((0, 0),),
    by_offset=(),
    by_time=(),
)


def test_lost_acknowledged_batch_is_noticed() -> None:
    assert broken(LAST_LOST) == {"acknowledged records are kept"}


def test_lost_unacknowledged_batch_is_legal() -> None:
    assert broken(LAST_LOST, model(acknowledged_end=4)) == set()


def test_log_that_begins_too_late_is_noticed() -> None:
    late = replace(SOUND, log_start=2, batches=SOUND.batches[1:], by_offset=(), by_time=())
    assert "acknowledged records are kept" in broken(late)
    assert broken(late, model(log_start=2)) == set()
    assert broken(SOUND, model(log_start=2)) == set()


def test_deleted_records_that_come_back_are_noticed() -> None:
    assert broken(SOUND, model(log_start=2, kept_log_start=2)) == {"acknowledged records are kept"}


def test_gap_is_noticed() -> None:
    assert "offsets are contiguous" in broken(replace(SOUND, batches=(SOUND.batches[0], SOUND.batches[2])))


@pytest.mark.parametrize(
    "changes", [{"log_end": 8, "flushed": 8}, {"flushed": 7}, {"log_start": 7}, {"batches": ()}]
)
def test_ends_that_do_not_fit_the_batches_are_noticed(changes: dict[str, int]) -> None:
    assert "offsets are contiguous" in broken(replace(SOUND, **changes))  # type: ignore[arg-type]  # names above


def test_other_bytes_are_noticed() -> None:
    other = Seen(ENTRIES[1].header, ENTRIES[1].data[:-1] + b"x")
    seen = replace(SOUND, batches=(SOUND.batches[0], other, SOUND.batches[2]), by_time=())
    assert broken(seen) == {"served bytes are appended bytes"}


def test_batch_that_nobody_appended_is_noticed() -> None:
    assert "served bytes are appended bytes" in broken(SOUND, model(entries=ENTRIES[:2], acknowledged_end=4))


def test_nonsense_that_is_served_is_noticed() -> None:
    assert broken(replace(SOUND, nonsense=("rubbish",))) == {"served bytes are appended bytes"}


def test_repeated_sequence_is_noticed() -> None:
    repeated = [ENTRIES[0], entry(2, sequence=0), ENTRIES[2]]
    seen = replace(SOUND, batches=tuple(Seen(*each) for each in repeated))
    assert broken(seen, model(entries=repeated)) == {"producers' sequences have no gap and no repeat"}


@pytest.mark.parametrize("producers", [{}, {1000: ProducerSeen(0, 3, 3)}, {1000: ProducerSeen(1, 5, 5)}])
def test_wrong_producer_state_is_noticed(producers: dict[int, ProducerSeen]) -> None:
    assert broken(replace(SOUND, producers=producers)) == {"producer state equals the log"}


def test_producer_that_never_was_is_noticed() -> None:
    producers = SOUND.producers | {7: ProducerSeen(0, 0, 0)}
    assert broken(replace(SOUND, producers=producers)) == {"producer state equals the log"}


def test_wrong_epochs_are_noticed() -> None:
    assert broken(replace(SOUND, epochs=((0, 0),))) == {"leader epochs equal the log"}


@pytest.mark.parametrize(
    "changes",
    [
        {"by_offset": (Lookup(3, 0),)},
        {"by_time": (Lookup(103, 4),)},
        {"by_time": (Lookup(103, None),)},
    ],
)
def test_index_that_leads_astray_is_noticed(changes: dict[str, tuple[Lookup, ...]]) -> None:
    assert broken(replace(SOUND, **changes)) == {"indexes agree with the log"}  # type: ignore[arg-type]  # names above


DAMAGED = [Damaged(4, "00000000000000000000.log", 200)]
REFUSED = replace(
    SOUND, batches=SOUND.batches[:2], refusals=(Refusal(4, "checksum"),), by_offset=(), by_time=()
)


def test_damage_that_nobody_reports_is_noticed() -> None:
    assert broken(SOUND, model(damages=DAMAGED)) == {"damage is reported, and nothing else"}


def test_damage_that_is_refused_is_legal() -> None:
    assert broken(REFUSED, model(damages=DAMAGED)) == set()


def test_damage_that_is_cut_off_silently_is_noticed() -> None:
    assert broken(LAST_LOST, model(damages=DAMAGED)) == {"damage is reported, and nothing else"}
    assert broken(replace(LAST_LOST, truncation_reported=True), model(damages=DAMAGED)) == set()


def test_damage_does_not_excuse_what_lies_before_it() -> None:
    seen = replace(REFUSED, batches=SOUND.batches[:1])
    assert broken(seen, model(damages=DAMAGED)) == {"acknowledged records are kept"}


def test_refusal_without_damage_is_noticed() -> None:
    assert "damage is reported, and nothing else" in broken(REFUSED, model(acknowledged_end=4))
    offline = replace(SOUND, offline_reason="for no reason")
    assert broken(offline) == {"damage is reported, and nothing else"}
