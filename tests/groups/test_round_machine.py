"""Random members, requests, time and crashes against one group; then everybody behaves, and it must come to
rest.

After every step the shell checks the shard's invariants, that no token is answered twice, and that the hard
state equals that of a shadow which has only seen the log. On top of that this machine checks what clients
rely on: an assignment that a member learned is in the log, and generations only grow.
"""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.groups.actors import GROUP, Actor, protocols
from tests.groups.classic_consumer import Consumer
from tests.groups.shell import Shell

from penstock.groups.records import GroupMetadataRecord
from penstock.groups.settings import GroupSettings
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.delete_groups import DeleteGroupsRequest
from penstock.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from penstock.wire.messages.join_group import JoinGroupResponse
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.wire.messages.sync_group import SyncGroupResponse

INSTANCES = (None, None, None, "desk", "desk", "chair")
TOPIC_NAMES = ("orders", "payments")
PROTOCOLS = (("range",), ("range", "sticky"), ("sticky", "range"), ("sticky",))

index_of_actor = st.integers(0, len(INSTANCES) - 1)


class RoundMachine(RuleBasedStateMachine):
    """Six clients of all versions; three are static, and two of these share an instance id by mistake."""

    @initialize(
        max_size=st.sampled_from([4, 1000]), delay_ms=st.sampled_from([0, 3_000]), count=st.integers(0, 4)
    )
    def begin(self, max_size: int, delay_ms: int, count: int) -> None:
        """Some of them are in a generation already."""
        self.shell = Shell(
            settings=GroupSettings(
                group_max_size=max_size,
                group_initial_rebalance_delay_ms=delay_ms,
                new_member_join_timeout_ms=15_000,
            )
        )
        self.actors = [
            Actor(
                self.shell,
                f"actor{number}",
                instance=instance,
                version=(9, 4, 0, 9, 5, 7)[number],
                session_ms=6_000 + 4_000 * number,
                rebalance_ms=(20_000, 10_000, -1, 20_000, 0, 5_000)[number],
            )
            for number, instance in enumerate(INSTANCES)
        ]
        self._come_to_rest([Consumer(actor) for actor in self.actors[len(INSTANCES) - count :]])

    @rule(index=index_of_actor)
    def join(self, index: int) -> None:
        self.actors[index].send_join()
        self._learn()

    @rule(index=index_of_actor, choice=st.sampled_from(PROTOCOLS), topic=st.sampled_from(TOPIC_NAMES))
    def change_and_join(self, index: int, choice: tuple[str, ...], topic: str) -> None:
        self.actors[index].protocols = protocols(*choice, topics=(topic,))
        self.join(index)

    @rule(index=index_of_actor)
    def restart_client_and_join(self, index: int) -> None:
        self.actors[index].member_id = ""
        self.actors[index].generation = -1
        self.join(index)

    @rule(indexes=st.permutations(range(len(INSTANCES))), count=st.integers(3, 6))
    def many_join(self, indexes: list[int], count: int) -> None:
        for index in indexes[:count]:
            self.join(index)
            if self.actors[index].is_answered:
                self.join(index)

    @rule(index=index_of_actor)
    def sync(self, index: int) -> None:
        assignments = {each.member_id: each.name.encode() for each in self.actors if each.member_id}
        self.actors[index].sync(assignments)
        self._learn()

    @rule(indexes=st.permutations(range(len(INSTANCES))), count=st.integers(2, 6))
    def many_sync(self, indexes: list[int], count: int) -> None:
        for index in indexes[:count]:
            if self.actors[index].is_answered:
                self.sync(index)

    @rule()
    def all_join_and_followers_sync(self) -> None:
        """What a round is like when the leader takes its time."""
        for index in range(len(self.actors)):
            self.join(index)
        for index, actor in enumerate(self.actors):
            if actor.is_answered and not actor.is_leader:
                self.sync(index)

    @rule(index=index_of_actor)
    def heartbeat(self, index: int) -> None:
        self.actors[index].heartbeat()

    @rule()
    def all_send_heartbeats(self) -> None:
        for actor in self.actors:
            actor.heartbeat()

    @rule(index=index_of_actor, offset=st.integers(0, 100))
    def commit(self, index: int, offset: int) -> None:
        self.actors[index].commit(offset)

    @rule(index=index_of_actor)
    def leave(self, index: int) -> None:
        self.actors[index].leave()
        self._learn()

    @rule(indexes=st.lists(index_of_actor, max_size=6), instance=st.sampled_from(["desk", "chair", None]))
    def remove_members(self, indexes: list[int], instance: str | None) -> None:
        members = [MemberIdentity(member_id=self.actors[index].member_id) for index in indexes]
        members.append(MemberIdentity(group_instance_id=instance))
        self.shell.send(LeaveGroupRequest(group_id=GROUP, members=tuple(members)), version=5)
        self._learn()

    @rule()
    def delete_group(self) -> None:
        self.shell.send(DeleteGroupsRequest(groups_names=(GROUP,)), version=2)

    @rule(duration_ms=st.sampled_from([1, 500, 3_000, 6_000, 10_000, 30_000]))
    def wait(self, duration_ms: int) -> None:
        self.shell.wait(duration_ms)
        self._learn()

    @rule()
    def crash(self) -> None:
        self.shell.crash()
        self._forget_connections()

    @precondition(lambda self: self.shell.settings.group_max_size == 1000)
    @rule()
    def crash_with_a_smaller_limit(self) -> None:
        self.shell.with_settings(group_max_size=2)
        self._forget_connections()

    @invariant()
    def generations_only_grow(self) -> None:
        newest = 0
        for record in self.shell.records():
            if isinstance(record, GroupMetadataRecord):
                generation = 0 if record.value is None else record.value.generation
                assert record.value is None or generation >= newest
                newest = generation

    def teardown(self) -> None:
        """Let everybody behave: those who are not refused for good come to share one generation."""
        if not hasattr(self, "shell"):
            return
        if self.shell.settings.group_max_size < len(self.actors):
            self.shell.with_settings(group_max_size=len(self.actors))
        for actor in self.actors:
            actor.member_id, actor.generation = "", -1
            actor.protocols = protocols("range", "sticky")
        self._come_to_rest([Consumer(actor) for actor in self.actors])

    def _come_to_rest(self, consumers: list[Consumer]) -> None:
        for _ in range(60):
            if self._is_at_rest(consumers):
                return
            for consumer in consumers:
                consumer.act()
            self.shell.wait(2_000)
        raise AssertionError(f"no rest: {consumers}")

    def _is_at_rest(self, consumers: list[Consumer]) -> bool:
        working = [consumer for consumer in consumers if not consumer.failed_with]
        request = DescribeGroupsRequest(groups=(GROUP,))
        (group,) = self.shell.ask(DescribeGroupsResponse, request, version=6).groups
        if not consumers:
            return True
        return (
            len(working) > 0
            and group.group_state == "Stable"
            and all(consumer.has_assignment for consumer in working)
            and len({consumer.actor.generation for consumer in working}) == 1
            and {each.member_id for each in group.members} == {each.actor.member_id for each in working}
        )

    def _forget_connections(self) -> None:
        for actor in self.actors:
            actor.token = 0

    def _learn(self) -> None:
        """Let every actor read the answer to what it sent last."""
        for actor in self.actors:
            response = self.shell.answers.get(actor.token)
            if isinstance(response, JoinGroupResponse):
                self._learn_join(actor, response)
            elif isinstance(response, SyncGroupResponse) and response.error_code == ErrorCode.NONE:
                self._check_is_written(actor, response.assignment)

    def _learn_join(self, actor: Actor, response: JoinGroupResponse) -> None:
        actor.joined()
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            actor.member_id = response.member_id
        elif response.error_code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            actor.member_id = ""

    def _check_is_written(self, actor: Actor, assignment: bytes) -> None:
        """What a member learned is in the log, in the generation it learned it for."""
        assert assignment in [
            member.assignment
            for record in self.shell.records()
            if isinstance(record, GroupMetadataRecord) and record.value is not None
            for member in record.value.members
            if record.value.generation == actor.generation
        ]


RoundMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestRounds = pytest.mark.slow(RoundMachine.TestCase)
