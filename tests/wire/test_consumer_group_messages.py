"""Messages that no other implementation here can read, against bytes put together by hand."""

import pytest

from penstock.model.ids import TopicId
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import (
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from penstock.wire.messages import consumer_group_describe as describe
from penstock.wire.messages.consumer_group_heartbeat import (
    LEAVE_EPOCH,
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from penstock.wire.schema import Struct, replace

TOPIC_ID = TopicId(bytes(range(16)))
ID_HEX = bytes(TOPIC_ID).hex()

JOIN = ConsumerGroupHeartbeatRequest(
    group_id="g",
    member_id="m1",
    member_epoch=0,
    rack_id="r",
    rebalance_timeout_ms=300_000,
    subscribed_topic_names=("a", "bc"),
    server_assignor="uniform",
    topic_partitions=(),
)
JOIN_START = (
    "0267"  # group "g"
    "036d31"  # member "m1"
    "00000000"  # epoch
    "00"  # no instance
    "0272"  # rack "r"
    "000493e0"  # rebalance timeout
    "03" + "0261" + "036263"  # two names
)
JOIN_END = (
    "08756e69666f726d"  # assignor "uniform"
    "01"  # owns nothing, which is not null
    "00"  # no tags
)
OWNED = TopicPartitions(topic_id=TOPIC_ID, partitions=(0, 7))
OWNED_HEX = ID_HEX + "03" + "00000000" + "00000007" + "00"

REQUESTS = [
    pytest.param(0, JOIN, JOIN_START + JOIN_END, id="join-0"),
    pytest.param(
        1,
        replace(JOIN, subscribed_topic_regex="x.*"),
        JOIN_START + "04782e2a" + JOIN_END,
        id="join-1",
    ),
    pytest.param(
        1,
        ConsumerGroupHeartbeatRequest(
            group_id="g", member_id="m1", member_epoch=5, topic_partitions=(OWNED,)
        ),
        "0267" + "036d31" + "00000005" + "00" + "00" + "ffffffff" + "00" + "00" + "0002" + OWNED_HEX + "00",
        id="owning",
    ),
    pytest.param(
        1,
        ConsumerGroupHeartbeatRequest(
            group_id="g", member_id="m1", member_epoch=LEAVE_EPOCH, instance_id="i"
        ),
        "0267" + "036d31" + "ffffffff" + "0269" + "00" + "ffffffff" + "00" + "00" + "00" + "00" + "00",
        id="leaving",
    ),
]

RESPONSES = [
    pytest.param(
        ConsumerGroupHeartbeatResponse(
            member_id="m1",
            member_epoch=3,
            heartbeat_interval_ms=5000,
            assignment=Assignment(topic_partitions=(OWNED,)),
        ),
        "00000000" + "0000" + "00" + "036d31" + "00000003" + "00001388"
        "01"  # there is an assignment
        "02" + OWNED_HEX + "00" + "00",
        id="assigned",
    ),
    pytest.param(
        ConsumerGroupHeartbeatResponse(
            member_id="m1", member_epoch=3, heartbeat_interval_ms=5000, assignment=Assignment()
        ),
        "00000000" + "0000" + "00" + "036d31" + "00000003" + "00001388" + "01" + "01" + "00" + "00",
        id="nothing-assigned",
    ),
    pytest.param(
        ConsumerGroupHeartbeatResponse(throttle_time_ms=1, error_code=110, error_message="no"),
        "00000001" + "006e" + "036e6f" + "00" + "00000000" + "00000000" + "ff" + "00",
        id="fenced",
    ),
]

MEMBER = describe.Member(
    member_id="m",
    instance_id="i",
    member_epoch=4,
    client_id="c",
    client_host="/h",
    subscribed_topic_names=("a",),
    assignment=describe.Assignment(
        topic_partitions=(describe.TopicPartitions(topic_id=TOPIC_ID, topic_name="a", partitions=(1,)),)
    ),
)
MEMBER_HEX = (
    "026d" + "0269" + "00" + "00000004" + "0263" + "032f68" + "020261" + "00"
    "02" + ID_HEX + "0261" + "02" + "00000001" + "00" + "00"  # has partition 1
    "01" + "00"  # is to have nothing
)
GROUP = describe.DescribedGroup(
    group_id="g",
    group_state="Stable",
    group_epoch=6,
    assignment_epoch=5,
    assignor_name="range",
    members=(MEMBER,),
)
GROUP_HEX = "0000" + "00" + "0267" + "07537461626c65" + "00000006" + "00000005" + "0672616e6765"


def described(member: describe.Member) -> Struct:
    return describe.ConsumerGroupDescribeResponse(groups=(replace(GROUP, members=(member,)),))


DESCRIPTIONS = [
    pytest.param(
        0,
        described(MEMBER),
        "00000000" + "02" + GROUP_HEX + "02" + MEMBER_HEX + "00" + "80000000" + "00" + "00",
        id="describe-0",
    ),
    pytest.param(
        1,
        described(replace(MEMBER, member_type=describe.CONSUMER_MEMBER)),
        "00000000" + "02" + GROUP_HEX + "02" + MEMBER_HEX + "01" + "00" + "80000000" + "00" + "00",
        id="describe-1",
    ),
]


def check_request(key: ApiKey, version: int, message: Struct, body: str) -> None:
    header = f"{key:04x}{version:04x}" + "00000009" + "0001" + "7a" + "00"
    frame = bytes.fromhex(header + body)
    assert encode_request(key, version, 9, message, client_id="z") == len(frame).to_bytes(4) + frame
    position = decode_request_header(frame).body_position
    assert decode_request(key, version, frame, position) == message


def check_response(key: ApiKey, version: int, message: Struct, body: str) -> None:
    frame = bytes.fromhex("00000009" + "00" + body)
    assert encode_response(key, version, 9, message) == len(frame).to_bytes(4) + frame
    assert decode_response(key, version, frame) == (9, message)


@pytest.mark.parametrize(("version", "message", "body"), REQUESTS)
def test_heartbeat_request_has_the_bytes_of_the_schema(version: int, message: Struct, body: str) -> None:
    check_request(ApiKey.CONSUMER_GROUP_HEARTBEAT, version, message, body)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(("message", "body"), RESPONSES)
def test_heartbeat_response_has_the_bytes_of_the_schema(version: int, message: Struct, body: str) -> None:
    check_response(ApiKey.CONSUMER_GROUP_HEARTBEAT, version, message, body)


@pytest.mark.parametrize("version", [0, 1])
def test_describe_request_has_the_bytes_of_the_schema(version: int) -> None:
    message = describe.ConsumerGroupDescribeRequest(group_ids=("g", "hi"), include_authorized_operations=True)
    check_request(ApiKey.CONSUMER_GROUP_DESCRIBE, version, message, "03" + "0267" + "036869" + "01" + "00")


@pytest.mark.parametrize(("version", "message", "body"), DESCRIPTIONS)
def test_describe_response_has_the_bytes_of_the_schema(version: int, message: Struct, body: str) -> None:
    check_response(ApiKey.CONSUMER_GROUP_DESCRIBE, version, message, body)
