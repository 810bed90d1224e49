"""One step of a member at a time."""

from collections.abc import Collection
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.groups.consumer.member import MemberState, Progress
from penstock.groups.consumer.reconciliation import Goal, reconcile
from penstock.groups.partitions import Partitions, TopicIdPartition
from penstock.model.ids import TopicId

TOPIC = TopicId(bytes(range(16)))
STABLE, UNREVOKED, UNRELEASED = MemberState


def parts(*numbers: int) -> Partitions:
    return frozenset(TopicIdPartition(TOPIC, number) for number in numbers)


def held(*numbers: int, epoch: int = 3) -> dict[TopicIdPartition, int]:
    return dict.fromkeys(sorted(parts(*numbers)), epoch)


def goal(*numbers: int, epoch: int = 5, others: Collection[TopicIdPartition] = ()) -> Goal:
    return Goal(epoch=epoch, target=parts(*numbers), is_held=lambda partition: partition in others)


AT_3 = Progress(epoch=3, previous_epoch=2, assigned=held(0, 1))


def test_member_that_is_there_stays() -> None:
    assert reconcile(AT_3, goal(0, 1, epoch=3), None) is AT_3


def test_member_that_keeps_all_and_gets_more_moves_at_once() -> None:
    after = reconcile(AT_3, goal(0, 1, 2), None)
    expected = Progress(epoch=5, previous_epoch=3, assigned=held(0, 1) | held(2, epoch=5))
    assert after == expected


def test_member_that_has_to_let_go_stays_at_its_epoch() -> None:
    after = reconcile(AT_3, goal(0, 2), parts(0, 1))
    assert after == replace(AT_3, state=UNREVOKED, assigned=held(0), revoking=held(1))


def test_member_that_says_it_has_let_go_already_moves_at_once() -> None:
    after = reconcile(AT_3, goal(0, 2), parts(0))
    assert (after.epoch, after.state, after.assigned) == (5, STABLE, held(0) | held(2, epoch=5))


REVOKING = Progress(epoch=3, previous_epoch=2, state=UNREVOKED, assigned=held(0), revoking=held(1))


@pytest.mark.parametrize("owned", [None, parts(0, 1), parts(1)])
def test_member_that_has_not_let_go_waits(owned: Partitions | None) -> None:
    assert reconcile(REVOKING, goal(0), owned) is REVOKING


def test_member_that_has_let_go_moves_on() -> None:
    after = reconcile(REVOKING, goal(0), parts(0))
    assert after == Progress(epoch=5, previous_epoch=3, assigned=held(0))


def test_member_that_has_to_let_go_of_more_does_so_at_the_next_epoch() -> None:
    after = reconcile(REVOKING, goal(2, epoch=9), parts(0))
    assert after == Progress(epoch=4, previous_epoch=3, state=UNREVOKED, revoking=held(0))


def test_what_it_let_go_of_may_come_back() -> None:
    after = reconcile(REVOKING, goal(0, 1, epoch=9), parts(0))
    assert after == Progress(epoch=9, previous_epoch=3, assigned=held(0) | held(1, epoch=9))


def test_member_waits_for_what_others_hold_at_the_new_epoch() -> None:
    after = reconcile(AT_3, goal(0, 1, 2, 3, others=parts(3)), None)
    assert after.state is UNRELEASED
    assert (after.epoch, after.assigned) == (5, held(0, 1) | held(2, epoch=5))
    assert reconcile(after, goal(0, 1, 2, 3, others=parts(3)), None) == after
    done = reconcile(after, goal(0, 1, 2, 3), None)
    assert (done.state, done.epoch, done.previous_epoch) == (STABLE, 5, 3)
    assert done.assigned.keys() == parts(0, 1, 2, 3)


numbers = st.frozensets(st.integers(0, 5)).map(lambda each: parts(*each))


@given(
    state=st.sampled_from(MemberState),
    assigned=numbers,
    revoking=numbers,
    target=numbers,
    others=numbers,
    owned=st.none() | numbers,
)
def test_step_never_takes_what_others_hold_nor_forgets_what_it_may_still_have(
    state: MemberState,
    assigned: Partitions,
    revoking: Partitions,
    target: Partitions,
    others: Partitions,
    owned: Partitions | None,
) -> None:
    is_revoking = state is UNREVOKED
    own = assigned | (revoking if is_revoking else frozenset())
    before = Progress(
        epoch=3,
        previous_epoch=2,
        state=state,
        assigned=dict.fromkeys(assigned, 3),
        revoking=dict.fromkeys(revoking - assigned, 3) if is_revoking else {},
    )
    free = others - own
    after = reconcile(before, Goal(epoch=5, target=target, is_held=free.__contains__), owned)
    has = after.assigned.keys() | after.revoking.keys()
    assert not has & free
    assert not after.assigned.keys() & after.revoking.keys()
    # Whatever it had, and does not say that it has let go of, is still its own.
    assert (own if owned is None else own & owned) <= has
    assert after.epoch >= before.epoch
    assert after.assigned.keys() <= target | assigned
    if after.state is STABLE and after.epoch == 5:
        assert after.assigned.keys() == target
