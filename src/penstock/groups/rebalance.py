"""A round of a classic group: from the first sign that something has changed to the next generation.

``begin_round`` opens the join phase, ``complete_join_phase`` ends it. Both may end in a record at once: when
nobody is left, the empty group is written down.
"""

from penstock.coordinator.outcome import NOTHING, Outcome, Reply
from penstock.groups.group_record import empty_group_record
from penstock.groups.group_state import REBALANCEABLE, GroupState
from penstock.groups.live_group import InitialDelay, LiveGroup
from penstock.groups.member import Member
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import Millis

FURTHER_WAIT_MS_MIN = 1_000
"""Members may ask for a rebalance timeout of nothing; to wait for nothing again and again would be a loop."""


def membership_changed(group: LiveGroup, now: Millis) -> Outcome:
    """Begin a round, or go on with the one under way if all who are left have joined it."""
    if group.state in REBALANCEABLE:
        return begin_round(group, now)
    return complete_join_phase_if_all_joined(group, now)


def begin_round(group: LiveGroup, now: Millis) -> Outcome:
    """Open the join phase. Whoever waits for the assignment of a generation that will not be has to join."""
    refusals = _abandon_sync_phase(group, now)
    is_initial = group.state is GroupState.EMPTY
    group.move_to(GroupState.PREPARING_REBALANCE)
    if is_initial:
        _wait_for_more_members(group, now)
        return refusals
    group.timers.start_join_phase(Millis(now + group.members.rebalance_timeout_ms))
    return refusals + complete_join_phase_if_all_joined(group, now)


def complete_join_phase_if_all_joined(group: LiveGroup, now: Millis) -> Outcome:
    """End the join phase if nobody is missing; a new group waits for more members nevertheless."""
    is_open = group.state is GroupState.PREPARING_REBALANCE and group.initial_delay is None
    return complete_join_phase(group, now) if is_open and group.members.have_all_joined else NOTHING


def complete_join_phase(group: LiveGroup, now: Millis) -> Outcome:
    """Begin the next generation with those who have joined, and with static members who are expected back."""
    outcome = NOTHING
    group.initial_delay = None
    for member in _missing_dynamic_members(group):
        outcome += group.remove(member.member_id)
    if not group.members:
        return outcome + _become_empty(group, now)
    if _elect_joined_leader(group):
        return outcome + _begin_generation(group, now)
    # Only static members are left, and none has come back: wait for one, or for the end of their sessions.
    longer_ms = max(group.members.rebalance_timeout_ms, FURTHER_WAIT_MS_MIN)
    group.timers.start_join_phase(Millis(now + longer_ms))
    return outcome


def join_phase_over(group: LiveGroup, now: Millis) -> Outcome:
    """The time for joining is up, or a new group has waited for more members."""
    delay = group.initial_delay
    if delay is not None and delay.has_new_members and now < delay.until:
        delay.has_new_members = False
        extended = now + group.context.settings.group_initial_rebalance_delay_ms
        group.timers.start_join_phase(Millis(min(extended, delay.until)))
        return NOTHING
    return complete_join_phase(group, now)


def sync_phase_over(group: LiveGroup, now: Millis) -> Outcome:
    """The time for asking for the assignment is up: who has not is taken for dead."""
    outcome = NOTHING
    for member in [member for member in group.members if member.owes_sync]:
        outcome += group.remove(member.member_id)
    return outcome + begin_round(group, now)


def session_over(group: LiveGroup, member_id: str, now: Millis) -> Outcome:
    """Nothing was heard for too long of a member, or of somebody who was given an id."""
    if group.members.is_pending(member_id):
        group.members.remove_pending(member_id)
        return complete_join_phase_if_all_joined(group, now)
    member = group.members.get(member_id)
    if member is None or member.is_waiting:
        return NOTHING  # Who waits cannot speak before it is answered; its session begins anew then.
    return group.remove(member_id) + membership_changed(group, now)


def _abandon_sync_phase(group: LiveGroup, now: Millis) -> Outcome:
    outcome = NOTHING
    group.timers.end_sync_phase()
    for member in group.members:
        member.owes_sync = False
        if member.parked_sync is not None:
            outcome += group.refuse_sync(member, ErrorCode.REBALANCE_IN_PROGRESS)
            group.hear_of(member, now)
    return outcome


def _wait_for_more_members(group: LiveGroup, now: Millis) -> None:
    delay_ms = group.context.settings.group_initial_rebalance_delay_ms
    longest_ms = max(delay_ms, group.members.rebalance_timeout_ms)
    group.initial_delay = InitialDelay(until=Millis(now + longest_ms))
    group.timers.start_join_phase(Millis(now + delay_ms))


def _missing_dynamic_members(group: LiveGroup) -> list[Member]:
    return [member for member in group.members if member.parked_join is None and not member.is_static]


def _elect_joined_leader(group: LiveGroup) -> bool:
    """Keep the leader if it has joined, else take the first who has."""
    leader = group.members.get(group.leader_id or "")
    if leader is None or leader.parked_join is None:
        leader = group.members.first_joined()
    if leader is None:
        return False
    group.leader_id = leader.member_id
    return True


def _become_empty(group: LiveGroup, now: Millis) -> Outcome:
    """Nobody is left; the number of the generation grows nevertheless, so that nobody of the past fits in."""
    group.timers.end_join_phase()
    group.is_decided = True
    return Outcome(records=(empty_group_record(group, now),))


def _begin_generation(group: LiveGroup, now: Millis) -> Outcome:
    group.timers.end_join_phase()
    group.generation += 1
    group.protocol_name = group.members.choose_protocol()
    group.subscribed_topics = group.find_subscribed_topics()
    group.move_to(GroupState.COMPLETING_REBALANCE)
    group.timers.start_sync_phase(Millis(now + group.members.rebalance_timeout_ms))
    replies = [_admit(group, member, now) for member in group.members]
    return Outcome(replies=tuple(reply for reply in replies if reply is not None))


def _admit(group: LiveGroup, member: Member, now: Millis) -> Reply | None:
    """Begin a member's part in the generation; a static one that is not back yet gets no answer."""
    member.is_new = False
    member.owes_sync = True
    member.assignment = b""
    parked = group.members.unpark_join(member)
    if parked is None:
        return None
    group.hear_of(member, now)
    return Reply(token=parked.token, response=group.joined(member))
