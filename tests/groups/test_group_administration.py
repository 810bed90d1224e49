"""ListGroups, DescribeGroups and DeleteGroups."""

import pytest
from tests.groups.actors import GROUP, Actor, stable_group, subscription
from tests.groups.shell import Shell

from penstock.groups.records import GroupMetadataRecord, OffsetCommitRecord
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from penstock.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from penstock.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)


@pytest.fixture
def shell() -> Shell:
    """A group with two members, and one that only has offsets."""
    shell = Shell()
    stable_group(shell, Actor(shell, "ann"), Actor(shell, "bob", instance="desk"))
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    topic = OffsetCommitRequestTopic(name="orders", partitions=(partition,))
    shell.send(OffsetCommitRequest(group_id="simple", topics=(topic,)), version=8)
    return shell


def describe(shell: Shell, group: str = GROUP, *, version: int = 6) -> DescribedGroup:
    request = DescribeGroupsRequest(groups=(group,))
    (described,) = shell.ask(DescribeGroupsResponse, request, version=version).groups
    return described


def listed(shell: Shell, states: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> list[str]:
    request = ListGroupsRequest(states_filter=states, types_filter=types)
    return [group.group_id for group in shell.ask(ListGroupsResponse, request, version=5).groups]


def delete(shell: Shell, *groups: str) -> list[int]:
    response = shell.ask(DeleteGroupsResponse, DeleteGroupsRequest(groups_names=groups), version=2)
    assert [result.group_id for result in response.results] == list(groups)
    return [result.error_code for result in response.results]


def test_list_names_type_state_and_kind_in_order(shell: Shell) -> None:
    response = shell.ask(ListGroupsResponse, ListGroupsRequest(), version=5)
    assert response.groups == (
        ListedGroup(group_id=GROUP, protocol_type="consumer", group_state="Stable", group_type="classic"),
        ListedGroup(group_id="simple", protocol_type="", group_state="Empty", group_type="classic"),
    )


def test_list_filters_by_state_and_kind(shell: Shell) -> None:
    assert listed(shell, states=("Stable",)) == [GROUP]
    assert listed(shell, states=("stable", "EMPTY")) == [GROUP, "simple"]
    assert listed(shell, states=("Dead",)) == []
    assert listed(shell, types=("Classic",)) == [GROUP, "simple"]
    assert listed(shell, types=("consumer",)) == []
    assert listed(shell, states=("Empty",), types=("classic",)) == ["simple"]


def test_describe_shows_members_with_what_they_said_and_got(shell: Shell) -> None:
    group = describe(shell)
    assert (group.error_code, group.group_state) == (ErrorCode.NONE, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    ann, bob = group.members
    assert (ann.client_id, ann.client_host, ann.group_instance_id) == ("ann", "/127.0.0.1", None)
    assert (bob.client_id, bob.group_instance_id) == ("bob", "desk")
    assert (ann.member_metadata, ann.member_assignment) == (subscription("orders"), b"ann")


def test_describe_shows_no_protocol_while_none_is_in_force(shell: Shell) -> None:
    Actor(shell, "cal").join()
    group = describe(shell)
    assert (group.group_state, group.protocol_data) == ("PreparingRebalance", "")
    assert [member.member_metadata for member in group.members] == [b"", b"", b""]


def test_describe_of_a_group_that_only_has_offsets_is_empty(shell: Shell) -> None:
    group = describe(shell, "simple")
    assert (group.group_state, group.protocol_type, group.members) == ("Empty", "", ())


def test_describe_of_an_unknown_group_is_dead_and_an_error_since_version_6(shell: Shell) -> None:
    assert describe(shell, "nobody", version=5) == DescribedGroup(group_id="nobody", group_state="Dead")
    assert describe(shell, "nobody", version=6) == DescribedGroup(
        group_id="nobody",
        group_state="Dead",
        error_code=ErrorCode.GROUP_ID_NOT_FOUND,
        error_message="Group nobody not found.",
    )


def test_delete_refuses_groups_with_members_and_unknown_ones(shell: Shell) -> None:
    assert delete(shell, GROUP, "nobody") == [ErrorCode.NON_EMPTY_GROUP, ErrorCode.GROUP_ID_NOT_FOUND]


def test_delete_takes_offsets_along(shell: Shell) -> None:
    assert delete(shell, "simple", "simple") == [ErrorCode.NONE, ErrorCode.NONE]
    tombstones = [record for record in shell.records() if record.value is None]
    assert [type(record) for record in tombstones] == [OffsetCommitRecord]
    assert shell.shard.group_count == 1


def test_delete_of_a_group_whose_members_have_left_is_written_down() -> None:
    shell = Shell()
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.commit(1)
    ann.leave()
    assert delete(shell, GROUP) == [ErrorCode.NONE]
    tombstones = [record for record in shell.records() if record.value is None]
    assert [type(record) for record in tombstones] == [OffsetCommitRecord, GroupMetadataRecord]
    shell.crash()
    assert shell.shard.group_count == 0


def test_delete_takes_along_what_an_open_transaction_has_written(shell: Shell) -> None:
    partition = TxnOffsetCommitRequestPartition(partition_index=1, committed_offset=2)
    topic = TxnOffsetCommitRequestTopic(name="orders", partitions=(partition,))
    request = TxnOffsetCommitRequest(
        transactional_id="copy", group_id="simple", producer_id=7, topics=(topic,)
    )
    shell.send(request, version=3)
    assert delete(shell, "simple") == [ErrorCode.NONE]
    shell.end_transaction(7, is_commit=True)
    assert listed(shell) == [GROUP]


def test_id_given_out_by_a_deleted_group_is_good_for_nothing() -> None:
    shell = Shell()
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.leave()
    bob = Actor(shell, "bob")
    bob.send_join()
    bob.member_id = bob.joined().member_id
    assert delete(shell, GROUP) == [ErrorCode.NONE]
    bob.send_join()
    assert bob.joined().error_code == ErrorCode.UNKNOWN_MEMBER_ID
