import asyncio

import pytest
from tests.broker.control.half_brokers import HalfBroker, half_brokers
from tests.broker.control.standing_in import until

from penstock.broker.apis import create_topics, describe_quorum, envelope
from penstock.broker.control import channel
from penstock.broker.peers.peer_error import PeerError
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.names import METADATA_TOPIC
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import RequestHeader, encode_request, header_for
from penstock.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from penstock.wire.messages.describe_quorum import DescribeQuorumRequest, PartitionRequest, TopicRequest
from penstock.wire.messages.envelope import EnvelopeRequest
from penstock.wire.messages.metadata import MetadataRequest

SECONDS_MAX = 10.0
CLIENT = RequestHeader(ApiKey.CREATE_TOPICS, 7, 5, "client", 0, client_host="/192.0.2.1")
IDS = AllocateProducerIdsRequest(broker_id=1, broker_epoch=11)


async def create(broker: HalfBroker, name: str = "new") -> CreateTopicsResponse:
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    return await create_topics.handle(broker, CreateTopicsRequest(topics=(topic,)), CLIENT)  # type: ignore[arg-type]  # half of one


def test_question_is_answered_here_by_who_is_in_office_here() -> None:
    async def run() -> None:
        async with half_brokers(1) as (one,):
            one.see_leader(1)
            response = await one.control.ask(IDS, seconds_max=SECONDS_MAX)
            assert (response.error_code, response.producer_id_len) == (0, 1000)

    asyncio.run(run())


def test_question_is_answered_by_who_is_in_office_elsewhere() -> None:
    async def run() -> None:
        async with half_brokers(2) as (one, two):
            one.see_leader(1)
            two.see_leader(1)
            response = await two.control.ask(IDS, seconds_max=SECONDS_MAX)
            assert (response.error_code, response.producer_id_len) == (0, 1000)
            assert one.image.next_producer_id == 1000

    asyncio.run(run())


def test_question_waits_for_somebody_to_take_office() -> None:
    async def run() -> None:
        async with half_brokers(2) as (one, two):
            asked = asyncio.create_task(two.control.ask(IDS, seconds_max=SECONDS_MAX))
            await asyncio.sleep(0)
            one.see_leader(1)
            two.see_leader(1)
            assert (await asked).error_code == 0

    asyncio.run(run())


def test_question_goes_on_from_who_left_office_to_who_took_it() -> None:
    async def run() -> None:
        async with half_brokers(3) as (one, two, three):
            three.see_leader(1)
            asked = asyncio.create_task(three.control.ask(IDS, seconds_max=SECONDS_MAX))
            await until(lambda: one.server.connection_count)
            two.see_leader(2)
            three.see_leader(2)
            assert (await asked).error_code == 0
            assert two.image.next_producer_id == 1000

    asyncio.run(run())


def test_question_that_nobody_answers_fails_with_its_time() -> None:
    async def run() -> None:
        async with half_brokers(2) as (one, two):
            with pytest.raises(ApiError) as refused:
                await two.control.ask(IDS, seconds_max=0.1)
            assert refused.value.code is ErrorCode.NOT_CONTROLLER
            two.see_leader(1)
            await one.server.stop(0.0)
            with pytest.raises(PeerError):
                await two.control.ask(IDS, seconds_max=0.2)

    asyncio.run(run())


def test_request_of_a_client_is_passed_on_and_answered_when_it_is_in_force_here() -> None:
    async def run() -> None:
        async with half_brokers(2) as (one, two):
            one.see_leader(1)
            two.see_leader(1)
            two.may_follow.clear()
            asked = asyncio.create_task(create(two))
            await until(lambda: "new" in two.image.topics)
            assert not asked.done()
            two.may_follow.set()
            (result,) = (await asked).topics
            assert (result.name, result.error_code) == ("new", 0)
            assert "new" in two.followed[-1].topics

    asyncio.run(run())


def test_request_is_decided_here_when_we_are_in_office_and_answered_when_in_force() -> None:
    async def run() -> None:
        async with half_brokers(1) as (one,):
            one.see_leader(1)
            one.may_follow.clear()
            asked = asyncio.create_task(create(one))
            await until(lambda: "new" in one.image.topics)
            assert not asked.done()
            one.may_follow.set()
            assert (await asked).topics[0].error_code == 0

    asyncio.run(run())


def test_request_is_passed_on_again_only_when_nothing_was_done() -> None:
    async def run() -> None:
        async with half_brokers(3) as (one, two, three):
            three.see_leader(1)  # who is not in office, and says so
            asked = asyncio.create_task(create(three))
            await until(lambda: one.server.connection_count)
            two.see_leader(2)
            three.see_leader(2)
            assert (await asked).topics[0].error_code == 0
            assert list(two.image.topics) == ["orders", "new"]

    asyncio.run(run())


def test_request_whose_answer_is_lost_is_not_repeated() -> None:
    async def run() -> None:
        async with half_brokers(2) as (one, two):
            one.see_leader(1)
            two.see_leader(1)
            one.may_follow.clear()
            asked = asyncio.create_task(create(two))
            await until(lambda: "new" in one.image.topics)
            await one.server.stop(0.0)
            (result,) = (await asked).topics
            assert result.error_code == ErrorCode.REQUEST_TIMED_OUT
            one.may_follow.set()

    asyncio.run(run())


def test_request_is_refused_when_nobody_takes_office(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        monkeypatch.setattr(channel, "FORWARD_SECONDS_MAX", 0.1)
        async with half_brokers(1) as (one,):
            (result,) = (await create(one)).topics
            assert result.error_code == ErrorCode.NOT_CONTROLLER

    asyncio.run(run())


def test_office_lost_during_a_decision_sends_the_request_elsewhere() -> None:
    async def run() -> None:
        async with half_brokers(2) as (one, two):
            one.see_leader(1)
            two.see_leader(1)
            one.quorum.refusals = [ApiError(ErrorCode.NOT_CONTROLLER)]
            assert (await create(two)).topics[0].error_code == 0

    asyncio.run(run())


def test_quorum_is_described_by_its_leader() -> None:
    async def run() -> None:
        async with half_brokers(2) as (one, two):
            one.see_leader(1)
            two.see_leader(1)
            asked = TopicRequest(topic_name=METADATA_TOPIC, partitions=(PartitionRequest(partition_index=0),))
            request = DescribeQuorumRequest(topics=(asked,))
            header = header_for(ApiKey.DESCRIBE_QUORUM)
            response = await describe_quorum.handle(two, request, header)  # type: ignore[arg-type]  # half of one
            (partition,) = response.topics[0].partitions
            assert [voter.replica_id for voter in partition.current_voters] == [1]

    asyncio.run(run())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no request",
        encode_request(ApiKey.METADATA, 9, 1, MetadataRequest())[4:],
        encode_request(ApiKey.CREATE_TOPICS, 7, 1, CreateTopicsRequest())[4:-1],
    ],
    ids=["empty", "nonsense", "not the controller's", "cut off"],
)
def test_envelope_with_anything_else_is_refused(data: bytes) -> None:
    async def run() -> None:
        async with half_brokers(1) as (one,):
            one.see_leader(1)
            request = EnvelopeRequest(request_data=data)
            response = await envelope.handle(one, request, header_for(ApiKey.ENVELOPE))  # type: ignore[arg-type]  # half of one
            assert response.error_code == ErrorCode.INVALID_REQUEST

    asyncio.run(run())
