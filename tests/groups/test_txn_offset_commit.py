import pytest
from tests.groups.actors import GROUP, Actor, stable_group
from tests.groups.shell import Shell

from penstock.coordinator.outcome import ProducerEpoch
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

PARTITION = TopicPartition("orders", 0)


def commit(
    shell: Shell,
    offset: int = 5,
    *,
    group: str = GROUP,
    producer_id: int = 7,
    generation: int = -1,
    member_id: str = "",
    instance: str | None = None,
    partition: int = 0,
    metadata: str | None = "",
) -> int:
    wanted = TxnOffsetCommitRequestPartition(
        partition_index=partition, committed_offset=offset, committed_metadata=metadata
    )
    request = TxnOffsetCommitRequest(
        transactional_id="copy",
        group_id=group,
        producer_id=producer_id,
        producer_epoch=2,
        generation_id=generation,
        member_id=member_id,
        group_instance_id=instance,
        topics=(TxnOffsetCommitRequestTopic(name="orders", partitions=(wanted,)),),
    )
    response = shell.ask(TxnOffsetCommitResponse, request, version=3)
    return response.topics[0].partitions[0].error_code


def fetch(shell: Shell, *, is_stable: bool = False) -> tuple[int, int]:
    topic = OffsetFetchRequestTopic(name="orders", partition_indexes=(0,))
    request = OffsetFetchRequest(group_id=GROUP, topics=(topic,), require_stable=is_stable)
    (partition,) = shell.ask(OffsetFetchResponse, request, version=7).topics[0].partitions
    return partition.committed_offset, partition.error_code


@pytest.fixture
def shell() -> Shell:
    return Shell()


def test_offsets_are_appended_as_a_batch_of_the_transaction(shell: Shell) -> None:
    assert commit(shell) == ErrorCode.NONE
    assert shell.log[0].producer == ProducerEpoch(producer_id=7, producer_epoch=2)


def test_offsets_are_invisible_until_the_transaction_commits(shell: Shell) -> None:
    commit(shell, 5)
    assert fetch(shell) == (-1, ErrorCode.NONE)
    shell.end_transaction(7, is_commit=True)
    assert fetch(shell) == (5, ErrorCode.NONE)


def test_offsets_of_an_aborted_transaction_never_were(shell: Shell) -> None:
    commit(shell, 5)
    shell.end_transaction(7, is_commit=False)
    assert fetch(shell) == (-1, ErrorCode.NONE)
    assert shell.shard.group_count == 0


def test_pending_offset_is_unstable_for_those_who_ask_for_stable_ones(shell: Shell) -> None:
    commit(shell, 5)
    assert fetch(shell, is_stable=True) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    shell.end_transaction(7, is_commit=False)
    assert fetch(shell, is_stable=True) == (-1, ErrorCode.NONE)


def test_marker_of_another_producer_changes_nothing(shell: Shell) -> None:
    commit(shell, 5)
    shell.end_transaction(8, is_commit=True)
    assert fetch(shell, is_stable=True) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)


def test_pending_offsets_survive_a_crash(shell: Shell) -> None:
    commit(shell, 5)
    shell.crash()
    assert fetch(shell, is_stable=True) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    shell.end_transaction(7, is_commit=True)
    assert fetch(shell, is_stable=True) == (5, ErrorCode.NONE)


def test_offset_committed_after_the_transactional_one_is_newer_though_the_transaction_ends_later(
    shell: Shell,
) -> None:
    commit(shell, 5, producer_id=7)
    commit(shell, 9, producer_id=8)
    shell.end_transaction(8, is_commit=True)
    shell.end_transaction(7, is_commit=True)
    assert fetch(shell) == (9, ErrorCode.NONE)


def test_member_of_the_past_is_fenced(shell: Shell) -> None:
    ann = Actor(shell, "ann", instance="desk")
    stable_group(shell, ann)
    generation, member_id = ann.generation, ann.member_id
    assert commit(shell, generation=generation, member_id=member_id) == ErrorCode.NONE
    assert commit(shell, generation=2, member_id=member_id) == ErrorCode.ILLEGAL_GENERATION
    assert commit(shell, generation=1, member_id="bob") == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(shell, generation=1, member_id="bob", instance="desk") == ErrorCode.FENCED_INSTANCE_ID


def test_producer_that_does_not_say_who_consumes_is_not_fenced(shell: Shell) -> None:
    stable_group(shell, Actor(shell, "ann"))
    assert commit(shell) == ErrorCode.NONE


def test_phase_of_a_round_does_not_matter_to_transactions(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.join()
    ann.joined()
    assert commit(shell, generation=2, member_id=ann.member_id) == ErrorCode.NONE


def test_generation_of_an_unknown_group_is_illegal(shell: Shell) -> None:
    assert commit(shell, generation=1, member_id="ann") == ErrorCode.ILLEGAL_GENERATION


def test_refused_offsets_write_nothing(shell: Shell) -> None:
    assert commit(shell, partition=4) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert commit(shell, metadata="x" * 5000) == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert commit(shell, group="") == ErrorCode.INVALID_GROUP_ID
    assert shell.log == []


def test_null_metadata_is_empty(shell: Shell) -> None:
    assert commit(shell, metadata=None) == ErrorCode.NONE
