"""Every checker: silent about a good run, loud about each thing it is there for."""

import pytest
from tests.sim.checkers.evidences import Run, header

from penstock.sim.checkers import (
    CHECKS,
    acknowledged_kept,
    committed_offsets_kept,
    everything_read,
    exactly_once,
    failed_unseen,
    moves_kept,
    no_duplicates,
    offsets_consistent,
    offsets_contiguous,
    offsets_in_log,
    one_owner,
    open_unseen,
    polls_in_order,
    sends_in_order,
    sequences_once,
    settings_kept,
    topics_kept,
    transactions_whole,
)
from penstock.sim.checkers.evidence import Check, Copied, Leadership
from penstock.sim.workloads.history import COMMITTED, UNCOMMITTED, Ending, Function
from penstock.sim.workloads.producers import STRANGE_SEQUENCE

COPY = Copied(source="s", target="t", partition_count=1, is_finished=True)


def complaints(check: Check, run: Run) -> list[str]:
    return list(check(run.evidence))


def test_good_run_is_good_to_all_of_them() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a", "b"), offset=0)
    run.did(Function.SEND, "o-0", value=("c",), offset=2, context="t/1")
    run.did(Function.END, "t/1", value=("commit",))
    run.did(Function.POLL, "o-0", value=((0, "a"), (1, "b"), (2, "c")), offset=0, context=COMMITTED)
    run.did(Function.OWN, "g/1", value=(0,))
    run.did(Function.COMMIT_OFFSET, "g/o-0", offset=3)
    run.did(Function.FETCH_OFFSET, "g/o-0", offset=3)
    run.did(Function.CREATE_TOPIC, "new", offset=2)
    run.log("o-0", [(0, "a"), (1, "b"), (2, "c")], headers=[header(0, 2), header(2)])
    run.offsets["g/o-0"] = 3
    run.topics["new"] = 2
    assert not [what for check in CHECKS.values() for what in check(run.evidence)]


def test_acknowledged_record_that_is_missing_or_elsewhere_is_found() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a", "b"), offset=0)
    run.did(Function.SEND, "o-0", value=("c",), offset=2, ending=Ending.INFO)
    run.log("o-0", [(0, "a")])
    assert complaints(acknowledged_kept.check, run) == ["b was acknowledged at o-0@1 and is not there"]
    run.log("o-0", [(0, "a"), (5, "b")])
    assert complaints(acknowledged_kept.check, run) == ["b was acknowledged at o-0@1, but is at 5"]


def test_acknowledged_record_whose_partition_is_gone_is_found() -> None:
    run = Run()
    run.did(Function.SEND, "o-1", value=("a",), offset=0)
    run.log("o-0", [])
    assert complaints(acknowledged_kept.check, run) == ["('a',) was acknowledged in o-1, which is not there"]


def test_reader_that_could_have_read_more_is_found() -> None:
    run = Run()
    run.did(Function.POLL, "o-0", process="r#1", value=((0, "a"),), offset=0, context=UNCOMMITTED)
    run.log("o-0", [(0, "a"), (1, "b")], committed=[(0, "a")])
    assert not complaints(everything_read.check, run)
    run.finished = {"r#1": ("o", COMMITTED)}
    assert not complaints(everything_read.check, run)
    run.finished = {"r#1": ("o", UNCOMMITTED)}
    assert complaints(everything_read.check, run) == ["r#1 has read o-0 up to 0, though there is 1"]
    run.finished = {"r#2": ("o", COMMITTED)}
    assert complaints(everything_read.check, run) == ["r#2 has read o-0 up to -1, though there is 0"]


def test_group_that_could_have_committed_more_is_found() -> None:
    run = Run()
    run.log("o-0", [(0, "a"), (1, "b")])
    run.offsets["g/o-0"] = 1
    assert not complaints(everything_read.check, run)
    run.finished_groups = frozenset({"g"})
    assert complaints(everything_read.check, run) == ["g has committed 1 in o-0, though there is 1"]
    run.offsets["g/o-0"] = 2
    assert not complaints(everything_read.check, run)


def test_retry_answered_without_an_offset_must_still_be_there() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), offset=-1)
    run.log("o-0", [(7, "a")])
    assert not complaints(acknowledged_kept.check, run)
    run.log("o-0", [])
    assert complaints(acknowledged_kept.check, run)


LED_BY_TWO = (
    Leadership(leader_epoch=1, node="a", until=10.0),
    Leadership(leader_epoch=2, node="b", until=99.0),
)


def test_record_that_only_its_leader_acknowledged_may_be_lost_when_another_leads() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), offset=0, is_weak=True)
    run.did(Function.SEND, "o-0", value=("b",), offset=0, is_weak=True)
    run.log("o-0", [(0, "c")])
    run.leaders["o-0"] = LED_BY_TWO
    for check in (acknowledged_kept.check, offsets_consistent.check, sends_in_order.check):
        assert not complaints(check, run)


@pytest.mark.parametrize(
    "leaders",
    [
        (),
        (Leadership(leader_epoch=1, node="a", until=99.0),),
        (Leadership(leader_epoch=1, node="b", until=0.5), Leadership(leader_epoch=2, node="a", until=99.0)),
        (
            Leadership(leader_epoch=1, node="a", until=5.0),
            Leadership(leader_epoch=2, node="", until=7.0),
            Leadership(leader_epoch=3, node="a", until=99.0),
        ),
    ],
    ids=["never changed", "one leader", "changed before", "the same leads again"],
)
def test_record_that_only_its_leader_acknowledged_is_kept_while_that_leads(
    leaders: tuple[Leadership, ...],
) -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), offset=0, is_weak=True)
    run.log("o-0", [])
    run.leaders["o-0"] = leaders
    assert complaints(acknowledged_kept.check, run)


def test_leader_that_nobody_saw_excuses_too() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), offset=0, is_weak=True)
    run.log("o-0", [])
    run.leaders["o-0"] = (
        Leadership(leader_epoch=1, node="a", until=5.0),
        Leadership(leader_epoch=3, node="a", until=99.0),
    )
    assert not complaints(acknowledged_kept.check, run)


def test_record_that_all_replicas_acknowledged_is_kept_whoever_leads() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), offset=0)
    run.log("o-0", [])
    run.leaders["o-0"] = LED_BY_TWO
    assert complaints(acknowledged_kept.check, run)


def test_offset_that_changes_its_value_is_found() -> None:
    run = Run()
    run.did(Function.POLL, "o-0", value=((0, "a"),), context=UNCOMMITTED)
    run.log("o-0", [(0, "b")])
    assert complaints(offsets_consistent.check, run) == ["o-0@0 was a and became b"]


def test_value_that_stands_twice_is_found_and_aborted_copies_are_not() -> None:
    run = Run()
    run.log("o-0", [(0, "a")])
    run.log("o-1", [(0, "a")])
    assert complaints(no_duplicates.check, run) == ["a is at o-0@0 and at o-1@0"]
    run = Run()
    run.copies = (COPY,)
    run.log("t-0", [(0, "a"), (2, "a")], committed=[(2, "a")])
    assert not complaints(no_duplicates.check, run)


def test_refused_value_that_is_read_is_found() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), ending=Ending.FAIL)
    run.did(Function.POLL, "o-0", value=((0, "a"),), context=UNCOMMITTED)
    assert complaints(failed_unseen.check, run) == ["a was refused, and read at o-0@0"]


def test_aborted_value_may_be_read_only_by_those_who_do_not_mind() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), offset=0, context="t/1")
    run.did(Function.END, "t/1", value=("abort",))
    run.did(Function.POLL, "o-0", value=((0, "a"),), context=UNCOMMITTED)
    run.log("o-0", [(0, "a")], committed=[])
    assert not complaints(failed_unseen.check, run)
    run.did(Function.POLL, "o-0", value=((0, "a"),), context=COMMITTED)
    assert complaints(failed_unseen.check, run) == ["a was aborted, and read as committed at o-0@0"]


def test_transaction_that_nobody_ended_counts_as_aborted() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), offset=0, context="t/1")
    run.log("o-0", [(0, "a")], committed=[(0, "a")])
    assert complaints(failed_unseen.check, run)


def test_commit_in_doubt_may_be_read() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), offset=0, context="t/1")
    run.did(Function.END, "t/1", value=("commit",), ending=Ending.INFO)
    run.log("o-0", [(0, "a")], committed=[(0, "a")])
    assert not complaints(failed_unseen.check, run)


def test_value_read_before_its_commit_was_asked_for_is_found() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), offset=0, context="t/1")
    run.did(Function.POLL, "o-0", value=((0, "a"),), context=COMMITTED)
    run.did(Function.END, "t/1", value=("commit",))
    assert complaints(open_unseen.check, run) == ["a was read at o-0@0 while its transaction was open"]


def test_reader_that_skips_or_goes_back_is_found() -> None:
    run = Run()
    run.log("o-0", [(0, "a"), (1, "b"), (2, "c")])
    run.did(Function.POLL, "o-0", value=((0, "a"), (2, "c")), context=UNCOMMITTED)
    assert complaints(polls_in_order.check, run) == ["p#1 read o-0@2 after 0, without 1"]
    run.did(Function.POLL, "o-0", value=((1, "b"),), context=UNCOMMITTED)
    assert "p#1 read o-0@1 after 2" in complaints(polls_in_order.check, run)


def test_reader_of_committed_records_may_skip_what_was_aborted() -> None:
    run = Run()
    run.log("o-0", [(0, "a"), (1, "b"), (2, "c")], committed=[(0, "a"), (2, "c")])
    run.did(Function.POLL, "o-0", value=((0, "a"), (2, "c")), context=COMMITTED)
    assert not complaints(polls_in_order.check, run)


def test_sends_of_one_producer_out_of_order_are_found() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a", "b"), offset=4)
    run.did(Function.SEND, "o-0", value=("c",), offset=5)
    assert complaints(sends_in_order.check, run) == ["p#1 got o-0@5 after 5"]


def test_sequences_with_a_gap_or_a_repeat_are_found() -> None:
    run = Run()
    run.log(
        "o-0", [], headers=[header(0, 2, producer_id=1, sequence=0), header(2, producer_id=1, sequence=2)]
    )
    assert not complaints(sequences_once.check, run)
    run.log(
        "o-0", [], headers=[header(0, 2, producer_id=1, sequence=0), header(2, producer_id=1, sequence=3)]
    )
    assert complaints(sequences_once.check, run)
    run.log(
        "o-0", [], headers=[header(0, 2, producer_id=1, sequence=0), header(2, producer_id=1, sequence=0)]
    )
    assert complaints(sequences_once.check, run)


def test_next_sequence_refused_is_found_unless_the_batch_is_there() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), ending=Ending.INFO, error=STRANGE_SEQUENCE)
    run.log("o-0", [])
    assert complaints(sequences_once.check, run)
    run.log("o-0", [(0, "a")])
    assert not complaints(sequences_once.check, run)


def test_hole_in_a_log_is_found() -> None:
    run = Run()
    run.log("o-0", [], headers=[header(0), header(2)], high_watermark=3)
    assert complaints(offsets_contiguous.check, run) == ["o-0 has 2 where 1 comes next"]
    run.log("o-0", [], headers=[header(0)], high_watermark=2)
    assert complaints(offsets_contiguous.check, run) == ["o-0 ends at 1, but its high watermark is 2"]


def test_committed_transaction_must_be_whole_and_one_in_doubt_all_or_nothing() -> None:
    run = Run()
    run.did(Function.SEND, "o-0", value=("a",), offset=0, context="t/1")
    run.did(Function.SEND, "o-1", value=("b",), offset=0, context="t/1")
    end = run.did(Function.END, "t/1", value=("commit",))
    run.log("o-0", [(0, "a")])
    run.log("o-1", [(0, "b")], committed=[])
    assert complaints(transactions_whole.check, run) == ["t/1 was committed, but b is missing"]
    end.ending = Ending.INFO
    assert complaints(transactions_whole.check, run) == ["t/1 is torn: a is there, b is not"]
    run.log("o-0", [(0, "a")], committed=[])
    assert not complaints(transactions_whole.check, run)


def test_committed_offset_that_is_lost_or_comes_from_nowhere_is_found() -> None:
    run = Run()
    run.did(Function.COMMIT_OFFSET, "g/o-0", offset=3)
    run.did(Function.FETCH_OFFSET, "g/o-0", offset=-1)
    run.offsets["g/o-0"] = 3
    assert complaints(committed_offsets_kept.check, run) == ["g/o-0: 3 was committed, -1 is answered"]
    run = Run()
    run.did(Function.COMMIT_OFFSET, "g/o-0", offset=3)
    run.offsets["g/o-0"] = 4
    assert complaints(committed_offsets_kept.check, run) == ["g/o-0: 4 is answered, which nobody committed"]


def test_offset_in_doubt_may_hold_or_not() -> None:
    run = Run()
    run.did(Function.COMMIT_OFFSET, "g/o-0", offset=3)
    run.did(Function.COMMIT_OFFSET, "g/o-0", offset=5, ending=Ending.INFO)
    for offset in (3, 5):
        run.offsets["g/o-0"] = offset
        assert not complaints(committed_offsets_kept.check, run)


def test_offset_of_an_aborted_transaction_must_not_show() -> None:
    run = Run()
    run.did(Function.COMMIT_OFFSET, "g/o-0", offset=3, context="t/1")
    run.did(Function.END, "t/1", value=("abort",))
    run.did(Function.COMMIT_OFFSET, "g/o-0", offset=9, context="t/2")
    run.offsets["g/o-0"] = 3
    assert complaints(committed_offsets_kept.check, run)
    run.offsets["g/o-0"] = 9
    assert complaints(committed_offsets_kept.check, run)
    run.offsets["g/o-0"] = -1
    assert not complaints(committed_offsets_kept.check, run)


def test_committed_offset_beyond_the_log_is_found() -> None:
    run = Run()
    run.log("o-0", [(0, "a")])
    run.offsets["g/o-0"] = 2
    assert complaints(offsets_in_log.check, run) == ["g/o-0: 2 is committed, but the log ends at 1"]


def test_partition_with_two_owners_in_one_generation_is_found() -> None:
    run = Run()
    run.did(Function.OWN, "g/1", process="a#1", value=(0, 1))
    run.did(Function.OWN, "g/2", process="b#1", value=(1,))
    assert not complaints(one_owner.check, run)
    run.did(Function.OWN, "g/1", process="b#1", value=(1,))
    assert complaints(one_owner.check, run) == ["partition 1 belongs to a#1 and to b#1 in g/1"]


def test_copy_that_differs_or_ends_early_is_found() -> None:
    run = Run()
    run.copies = (COPY,)
    run.log("s-0", [(0, "a"), (1, "b")])
    run.log("t-0", [(0, "a"), (1, "b")])
    assert not complaints(exactly_once.check, run)
    run.log("t-0", [(0, "b")])
    assert "the source has a there" in complaints(exactly_once.check, run)[0]
    run.log("t-0", [(0, "a")])
    assert "ends before b" in complaints(exactly_once.check, run)[0]
    run.log("t-0", [(0, "a"), (1, "b"), (2, "b")])
    assert "has 3 records" in complaints(exactly_once.check, run)[0]


def test_copy_that_nobody_was_left_to_finish_may_end_early() -> None:
    run = Run()
    run.copies = (Copied(source="s", target="t", partition_count=1, is_finished=False),)
    run.log("s-0", [(0, "a"), (1, "b")])
    run.log("t-0", [(0, "a")])
    assert not complaints(exactly_once.check, run)


def test_setting_that_was_acknowledged_holds_unless_another_is_in_doubt() -> None:
    run = Run()
    run.did(Function.SET_CONFIG, "o/min", value=("1",))
    run.did(Function.SET_CONFIG, "o/min", value=("2",))
    run.did(Function.SET_CONFIG, "o/min", value=("4",), ending=Ending.FAIL)
    run.configs["o/min"] = "2"
    assert not complaints(settings_kept.check, run)
    for lost in ("1", "4", None):
        run.configs["o/min"] = lost
        assert complaints(settings_kept.check, run) == [f"o/min was set to 2, and is {lost}"]
    run.did(Function.SET_CONFIG, "o/min", value=("1",), ending=Ending.INFO)
    run.configs["o/min"] = "1"
    assert not complaints(settings_kept.check, run)


def test_move_that_was_acknowledged_comes_to_its_end_unless_another_is_in_doubt() -> None:
    run = Run()
    run.did(Function.REASSIGN, "o-0", value=(1, 2))
    run.did(Function.REASSIGN, "o-0", value=(3, 2))
    run.replicas["o-0"] = (2, 3)
    assert not complaints(moves_kept.check, run)
    run.replicas["o-0"] = (1, 2)
    assert complaints(moves_kept.check, run) == ["o-0 was sent to ['2', '3'], and is on ['1', '2']"]
    run.did(Function.REASSIGN, "o-0", value=(1, 2), ending=Ending.INFO)
    assert not complaints(moves_kept.check, run)


def test_topics_follow_from_what_was_acknowledged() -> None:
    run = Run()
    run.did(Function.CREATE_TOPIC, "x", offset=1)
    run.did(Function.GROW_TOPIC, "x", offset=2)
    run.topics["x"] = 1
    assert complaints(topics_kept.check, run)
    run.topics["x"] = 2
    assert not complaints(topics_kept.check, run)
    run.did(Function.DELETE_TOPIC, "x", ending=Ending.INFO)
    assert not complaints(topics_kept.check, run)
    del run.topics["x"]
    assert not complaints(topics_kept.check, run)
