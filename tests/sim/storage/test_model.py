"""The book of promises."""

from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.sim.storage.model import Damaged, Entry, PartitionModel, Sent


def entry(base_offset: int, *, count: int = 1, producer_id: int = -1, sequence: int = -1) -> Entry:
    records = [NewRecord(value=b"%d" % base_offset) for _ in range(count)]
    batch = build_batch(
        records, base_offset=base_offset, producer_id=producer_id, producer_epoch=0, base_sequence=sequence
    )
    return Entry(read_header(batch), bytes(batch))


def sent(model: PartitionModel, count: int) -> Sent:
    producer = model.producer(0)
    made = entry(0, count=count, producer_id=producer.producer_id, sequence=producer.next_sequence)
    producer.send(Sent(*made))
    return Sent(*made)


def test_producer_holds_batches_until_they_are_acknowledged() -> None:
    model = PartitionModel(0)
    first, second = sent(model, 2), sent(model, 3)
    assert model.producer(0).next_sequence == 5
    model.entries.append(entry(0, count=2, producer_id=1000, sequence=0))
    model.entries.append(entry(2, count=3, producer_id=1000, sequence=2))
    model.acknowledge(2)
    assert list(model.producer(0).unacknowledged) == [second]
    model.acknowledge(5)
    assert not model.producer(0).unacknowledged
    assert model.find_sequence(1000, first.header.base_sequence) == model.entries[0]


def test_cut_takes_promises_back_at_once_and_batches_when_it_is_done() -> None:
    model = PartitionModel(0, entries=[entry(0), entry(1), entry(2)])
    model.acknowledge(3)
    model.damages.append(Damaged(2, "a.log", 5))
    model.begin_cut(1)
    assert (model.acknowledged_end, model.end) == (1, 3)
    model.finish_cut(1)
    assert (model.end, model.first_damage) == (1, None)


def test_cut_lets_producers_go_on_behind_what_is_left() -> None:
    model = PartitionModel(0)
    sent(model, 2)
    sent(model, 2)
    model.entries.append(entry(0, count=2, producer_id=1000, sequence=0))
    model.forget_producers_sends()
    assert model.producer(0).next_sequence == 2
    assert not model.producer(0).unacknowledged
    model.finish_cut(0)
    model.forget_producers_sends()
    assert model.producer(0).next_sequence == 0


def test_adopting_a_restarts_log_promises_what_it_shows() -> None:
    model = PartitionModel(0, entries=[entry(0), entry(1), entry(2)], acknowledged_end=1)
    model.adopt(0, 2)
    assert (model.end, model.acknowledged_end) == (2, 2)
    assert model.entry_at(1) is not None
    assert model.entry_at(2) is None


def test_log_that_was_told_to_begin_anew_is_whole_or_empty_there() -> None:
    for start, end, left in ((0, 3, 3), (7, 7, 0)):
        model = PartitionModel(0, entries=[entry(0), entry(1), entry(2)], acknowledged_end=3, sealed_end=3)
        model.begin_restart(7)
        assert model.acknowledged_end == 3
        assert model.has_restarted(start, end) == (left == 0)
        model.adopt(start, end)
        assert (len(model.entries), model.end, model.acknowledged_end) == (left, end, end)
        assert model.restarts_at is None


def test_log_that_begins_anew_below_its_end_is_sealed_no_further() -> None:
    model = PartitionModel(0, entries=[entry(0), entry(1)], acknowledged_end=2, sealed_end=2, log_start=1)
    model.begin_restart(0)
    assert model.sealed_end == 0
    model.finish_restart(0)
    assert (model.end, model.log_start, model.entries) == (0, 0, [])
