"""Asking a peer over real sockets: who waits for whom, and what happens when no answer comes."""

import asyncio

import pytest
from tests.broker.peers.serving import NODE, Pair, Peer, heartbeat, new_peers, number_in, run, until

from penstock.broker.peers.address import Address
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peer_error import PeerError
from penstock.model.errors import UsageError
from penstock.model.ids import NodeId
from penstock.model.limits import PEER_QUESTIONS_WAITING_MAX
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData

SHORT_SECONDS = 0.05


async def error_of(asking: "asyncio.Task[object]") -> PeerError:
    """Why there is no answer."""
    with pytest.raises(PeerError) as raised:
        await asking
    return raised.value


def test_question_is_answered_in_its_version_under_our_name() -> None:
    async def scenario(subject: Pair) -> None:
        asking = asyncio.get_running_loop().create_task(
            subject.peers.ask(NODE, heartbeat(7), 1, seconds_max=10.0)
        )
        asked = await subject.peer.wait_asked(1)
        assert asked.header[:2] == (ApiKey.BROKER_HEARTBEAT, 1)
        assert asked.header.client_id == "broker-1"
        asked.answer()
        assert number_in(await asking) == 7

    run(scenario)


def test_question_at_an_address_is_answered_by_whoever_listens_there() -> None:
    async def scenario(subject: Pair) -> None:
        asking = asyncio.get_running_loop().create_task(
            subject.peers.ask_at(subject.address, heartbeat(8), 0, seconds_max=10.0)
        )
        (await subject.peer.wait_asked(1)).answer()
        assert number_in(await asking) == 8

    run(scenario)


def test_questions_one_after_the_other_use_one_connection() -> None:
    async def scenario(subject: Pair) -> None:
        for number in range(1, 5):
            asking = subject.ask(number)
            (await subject.peer.wait_asked(number)).answer()
            assert number_in(await asking) == number
        assert subject.peer.connection_count == 1

    run(scenario)


def test_quorum_questions_follow_one_another_on_one_connection() -> None:
    async def scenario(subject: Pair) -> None:
        asking = [subject.ask(number, lane=Lane.QUORUM) for number in range(20)]
        await subject.peer.wait_asked(20)
        assert subject.peer.numbers == list(range(20))
        assert subject.peer.connection_count == 1
        for asked in reversed(subject.peer.asked):
            asked.answer()
        assert [number_in(answer) for answer in await asyncio.gather(*asking)] == list(range(20))

    run(scenario)


def test_control_questions_take_a_few_connections_and_then_wait() -> None:
    async def scenario(subject: Pair) -> None:
        asking = [subject.ask(number) for number in range(6)]
        await subject.peer.wait_asked(4)
        await asyncio.sleep(0.01)
        assert subject.peer.numbers == [0, 1, 2, 3]
        for number in range(6):
            (await subject.peer.wait_asked(number + 1)).answer()
        assert [number_in(answer) for answer in await asyncio.gather(*asking)] == list(range(6))
        assert subject.peer.connection_count == 4

    run(scenario)


def test_lane_of_one_connection_asks_one_question_at_a_time() -> None:
    async def scenario(subject: Pair) -> None:
        asking = [subject.ask(number, lane=Lane.HEARTBEAT) for number in range(2)]
        first = await subject.peer.wait_asked(1)
        await asyncio.sleep(0.01)
        assert subject.peer.numbers == [0]
        first.answer()
        (await subject.peer.wait_asked(2)).answer()
        assert [number_in(answer) for answer in await asyncio.gather(*asking)] == [0, 1]
        assert subject.peer.connection_count == 1

    run(scenario)


def test_lanes_do_not_wait_for_each_other() -> None:
    async def scenario(subject: Pair) -> None:
        asking = [subject.ask(number, lane=lane) for number, lane in enumerate(Lane)]
        await subject.peer.wait_asked(len(Lane))
        assert subject.peer.connection_count == len(Lane)
        for asked in subject.peer.asked:
            asked.answer()
        await asyncio.gather(*asking)

    run(scenario)


def test_more_questions_than_may_wait_are_refused_at_once() -> None:
    async def scenario(subject: Pair) -> None:
        asking = [subject.ask(0, lane=Lane.HEARTBEAT)]
        await subject.peer.wait_asked(1)
        asking += [subject.ask(number, lane=Lane.HEARTBEAT) for number in range(PEER_QUESTIONS_WAITING_MAX)]
        refused = await error_of(subject.ask(5000, lane=Lane.HEARTBEAT))
        assert "1000 questions waiting in lane heartbeat" in str(refused)
        assert not refused.was_sent
        subject.peers.close()
        errors = await asyncio.gather(*asking, return_exceptions=True)
        assert [error.was_sent for error in errors if isinstance(error, PeerError)] == [True] + [False] * 1000

    run(scenario)


def test_node_without_an_address_is_not_asked() -> None:
    async def scenario(subject: Pair) -> None:
        with pytest.raises(PeerError, match="node 9 has no address") as raised:
            await subject.peers.ask(NodeId(9), heartbeat(1), 0, seconds_max=10.0)
        assert not raised.value.was_sent

    run(scenario)


def test_message_that_cannot_be_encoded_leaves_nothing_behind() -> None:
    async def scenario(subject: Pair) -> None:
        with pytest.raises(UsageError):
            await subject.peers.ask(NODE, heartbeat(1), 77, seconds_max=10.0)
        asking = subject.ask(2)
        (await subject.peer.wait_asked(1)).answer()
        assert number_in(await asking) == 2

    run(scenario)


def test_peer_that_says_nothing_is_hung_up_on() -> None:
    async def scenario(subject: Pair) -> None:
        error = await error_of(subject.ask(1, seconds_max=SHORT_SECONDS))
        assert error.was_sent
        assert str(error) == f"{subject.address} did not answer BrokerHeartbeat within 0.05 s"
        await subject.peer.wait_connections(0)
        asking = subject.ask(2)
        (await subject.peer.wait_asked(2)).answer()
        assert number_in(await asking) == 2

    run(scenario)


def test_cancelled_question_takes_its_connection_with_it() -> None:
    async def scenario(subject: Pair) -> None:
        asking = subject.ask(1)
        await subject.peer.wait_asked(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await subject.peer.wait_connections(0)

    run(scenario)


def test_question_that_only_waited_harms_nobody_when_its_time_is_over() -> None:
    async def scenario(subject: Pair) -> None:
        first = subject.ask(1, lane=Lane.HEARTBEAT)
        await subject.peer.wait_asked(1)
        error = await error_of(subject.ask(2, lane=Lane.HEARTBEAT, seconds_max=SHORT_SECONDS))
        assert not error.was_sent
        subject.peer.asked[0].answer()
        assert number_in(await first) == 1
        third = subject.ask(3, lane=Lane.HEARTBEAT)
        (await subject.peer.wait_asked(2)).answer()
        assert number_in(await third) == 3
        assert subject.peer.numbers == [1, 3]
        assert subject.peer.connection_count == 1

    run(scenario)


def test_overdue_quorum_question_fails_those_sent_beside_it() -> None:
    async def scenario(subject: Pair) -> None:
        beside = subject.ask(1, lane=Lane.QUORUM)
        await subject.peer.wait_asked(1)
        overdue = subject.ask(2, lane=Lane.QUORUM, seconds_max=SHORT_SECONDS)
        assert (await error_of(overdue)).was_sent
        error = await error_of(beside)
        assert error.was_sent
        assert "hung up" in str(error)
        await subject.peer.wait_connections(0)

    run(scenario)


def test_questions_that_wait_go_on_after_another_was_given_up() -> None:
    async def scenario(subject: Pair) -> None:
        overdue = subject.ask(1, lane=Lane.HEARTBEAT, seconds_max=SHORT_SECONDS)
        await subject.peer.wait_asked(1)
        waiting = subject.ask(2, lane=Lane.HEARTBEAT)
        assert (await error_of(overdue)).was_sent
        (await subject.peer.wait_asked(2)).answer()
        assert number_in(await waiting) == 2

    run(scenario)


def test_peer_that_hangs_up_fails_what_was_sent_and_is_called_again() -> None:
    async def scenario(subject: Pair) -> None:
        asking = subject.ask(1)
        (await subject.peer.wait_asked(1)).answer()
        await asking
        asking = subject.ask(2)
        (await subject.peer.wait_asked(2)).hang_up()
        error = await error_of(asking)
        assert error.was_sent
        assert str(subject.address) in str(error)
        asking = subject.ask(3)
        (await subject.peer.wait_asked(3)).answer()
        assert number_in(await asking) == 3

    run(scenario)


def test_nobody_listening_is_told_with_address_and_reason() -> None:
    async def scenario(subject: Pair) -> None:
        await subject.peer.stop()
        for _ in range(3):
            error = await error_of(subject.ask(1))
            assert str(error) == f"{subject.address} cannot be reached: connection refused"
            assert not error.was_sent

    run(scenario)


@pytest.mark.parametrize("address", [Address("127.0.0.1", 70_000), Address("x" * 64 + ".invalid", 9092)])
def test_address_that_cannot_exist_is_a_failure_like_others(address: Address) -> None:
    async def scenario(subject: Pair) -> None:
        for _ in range(2):
            with pytest.raises(PeerError, match="cannot be reached") as raised:
                await subject.peers.ask_at(address, heartbeat(1), 0, seconds_max=10.0)
            assert not raised.value.was_sent

    run(scenario)


def test_node_that_moved_is_asked_where_it_is_now() -> None:
    async def scenario(subject: Pair) -> None:
        asking = subject.ask(1)
        (await subject.peer.wait_asked(1)).answer()
        await asking
        under_way = subject.ask(2)
        await subject.peer.wait_asked(2)
        moved = Peer(answers_at_once=True)
        subject.addresses[NODE] = await moved.listen()
        assert number_in(await subject.ask(3)) == 3
        assert moved.numbers == [3]
        error = await error_of(under_way)
        assert error.was_sent
        assert "is no longer the address of node 2" in str(error)
        await subject.peer.wait_connections(0)
        subject.peers.close()
        await moved.stop()

    run(scenario)


def test_node_that_lost_its_address_is_hung_up_on() -> None:
    async def scenario(subject: Pair) -> None:
        asking = subject.ask(1)
        (await subject.peer.wait_asked(1)).answer()
        await asking
        subject.addresses.clear()
        assert not (await error_of(subject.ask(2))).was_sent
        await subject.peer.wait_connections(0)

    run(scenario)


def test_node_in_whose_place_another_listens_is_forgotten_without_disturbing_that() -> None:
    async def scenario(subject: Pair) -> None:
        successor = NodeId(3)
        subject.addresses[successor] = subject.address
        asking = subject.ask(1)
        (await subject.peer.wait_asked(1)).answer()
        await asking
        under_way = subject.ask(2, node_id=successor)
        asked = await subject.peer.wait_asked(2)
        del subject.addresses[NODE]
        assert not (await error_of(subject.ask(3))).was_sent
        asked.answer()
        assert number_in(await under_way) == 2

    run(scenario)


def test_close_fails_whoever_waits_and_whoever_asks_afterwards() -> None:
    async def scenario(subject: Pair) -> None:
        sent = subject.ask(1, lane=Lane.HEARTBEAT)
        await subject.peer.wait_asked(1)
        waiting = subject.ask(2, lane=Lane.HEARTBEAT)
        connecting = subject.ask(3, lane=Lane.CONTROL)
        await asyncio.sleep(0)
        subject.peers.close()
        assert (await error_of(sent)).was_sent
        assert not (await error_of(waiting)).was_sent
        assert not (await error_of(connecting)).was_sent
        late = await error_of(subject.ask(4))
        assert not late.was_sent
        assert "stopping" in str(late)
        await subject.peer.wait_connections(0)
        assert subject.peer.numbers == [1]

    run(scenario)


def test_answers_are_kept_in_buffers_that_nobody_else_uses() -> None:
    sizes = (100, 3_000_000, 9_000_000)

    async def scenario(subject: Pair) -> None:
        kept: list[memoryview] = []
        for count, size in enumerate(sizes, 1):
            asking = asyncio.get_running_loop().create_task(
                subject.peers.ask(NODE, FetchRequest(), 12, seconds_max=10.0, lane=Lane.FETCH)
            )
            (await subject.peer.wait_asked(count)).answer(_fetched(bytes([count]) * size))
            records = (await asking).responses[0].partitions[0].records
            assert isinstance(records, memoryview)
            assert not records.readonly
            kept.append(records)
        for count, records in enumerate(kept, 1):
            assert records == bytes([count]) * sizes[count - 1]
        assert len({id(records.obj) for records in kept}) == len(sizes)

    run(scenario)


def test_answer_larger_than_may_be_ends_the_connection() -> None:
    async def scenario(subject: Pair) -> None:
        modest = new_peers(subject.addresses, frame_bytes_max=1000)
        asking = asyncio.get_running_loop().create_task(
            modest.ask(NODE, FetchRequest(), 12, seconds_max=10.0, lane=Lane.FETCH)
        )
        (await subject.peer.wait_asked(1)).answer(_fetched(bytes(1000)))
        error = await error_of(asking)
        assert "is outside 1..1000" in str(error)
        assert error.was_sent
        await until(lambda: subject.peer.connection_count == 0)
        modest.close()

    run(scenario)


def _fetched(records: bytes) -> FetchResponse:
    partition = PartitionData(partition_index=0, records=records)
    return FetchResponse(responses=(FetchableTopicResponse(topic="t", partitions=(partition,)),))
