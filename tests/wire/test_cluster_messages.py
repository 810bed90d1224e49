"""What brokers and controllers say to each other, against bytes put together by hand."""

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
from penstock.wire.messages import alter_partition as alter
from penstock.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from penstock.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from penstock.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
    LostPartitions,
)
from penstock.wire.messages.decommission_broker import (
    DecommissionBrokerRequest,
    DecommissionBrokerResponse,
)
from penstock.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse
from penstock.wire.messages.join_cluster import (
    JoinClusterRequest,
    JoinClusterResponse,
    JoinEndpoint,
    JoinVoter,
)
from penstock.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from penstock.wire.schema import Struct, replace

TOPIC_ID = TopicId(bytes(range(16)))
ID_HEX = bytes(TOPIC_ID).hex()
DIRECTORY = b"d" * 16
DIRECTORY_HEX = DIRECTORY.hex()

ENDPOINT_HEX = "0270" + "0268" + "ffff" + "0000" + "00"  # name "p", host "h", port 65535, plain
REGISTRATION = BrokerRegistrationRequest(
    broker_id=3,
    cluster_id="c",
    incarnation_id=DIRECTORY,
    listeners=(Listener(name="p", host="h", port=65535),),
    features=(Feature(name="f", min_supported_version=1, max_supported_version=7),),
    rack="r",
)
REGISTRATION_HEX = (
    "00000003"
    + "0263"
    + DIRECTORY_HEX
    + "02"
    + ENDPOINT_HEX
    + "02"
    + "0266"
    + "0001"
    + "0007"
    + "00"
    + "0272"
)

ISR_3 = alter.PartitionData(
    partition_index=1,
    leader_epoch=5,
    new_isr_with_epochs=(alter.BrokerState(broker_id=2, broker_epoch=9),),
    leader_recovery_state=1,
    partition_epoch=6,
)
ALTER_START = "00000002" + "0000000000000009" + "02" + ID_HEX + "02" + "00000001" + "00000005"
ALTER_END = "01" + "00000006" + "00" + "00" + "00"


def altering(partition: alter.PartitionData) -> Struct:
    topic = alter.TopicData(topic_id=TOPIC_ID, partitions=(partition,))
    return alter.AlterPartitionRequest(broker_id=2, broker_epoch=9, topics=(topic,))


REQUESTS = [
    pytest.param(ApiKey.BROKER_REGISTRATION, 0, REGISTRATION, REGISTRATION_HEX + "00", id="registration-0"),
    pytest.param(
        ApiKey.BROKER_REGISTRATION, 1, REGISTRATION, REGISTRATION_HEX + "00" + "00", id="registration-1"
    ),
    pytest.param(
        ApiKey.BROKER_REGISTRATION,
        2,
        replace(REGISTRATION, log_dirs=(DIRECTORY,)),
        REGISTRATION_HEX + "00" + "02" + DIRECTORY_HEX + "00",
        id="registration-2",
    ),
    pytest.param(
        ApiKey.BROKER_REGISTRATION,
        4,
        replace(REGISTRATION, log_dirs=(DIRECTORY,), previous_broker_epoch=8),
        REGISTRATION_HEX + "00" + "02" + DIRECTORY_HEX + "0000000000000008" + "00",
        id="registration-4",
    ),
    pytest.param(
        ApiKey.BROKER_REGISTRATION,
        3,
        replace(REGISTRATION, lost_partitions=(LostPartitions(topic_id=TOPIC_ID, partitions=(4,)),)),
        REGISTRATION_HEX
        + "00"
        + "01"
        + "ffffffffffffffff"
        + "01"  # one tag: 10000, of 23 bytes
        + "904e17"
        + ("02" + ID_HEX + "02" + "00000004" + "00"),
        id="registration-with-lost-partitions",
    ),
    pytest.param(
        ApiKey.BROKER_HEARTBEAT,
        0,
        BrokerHeartbeatRequest(broker_id=3, broker_epoch=9, current_metadata_offset=7, want_shut_down=True),
        "00000003" + "0000000000000009" + "0000000000000007" + "00" + "01" + "00",
        id="heartbeat-0",
    ),
    pytest.param(
        ApiKey.BROKER_HEARTBEAT,
        1,
        BrokerHeartbeatRequest(broker_id=3, want_fence=True, offline_log_dirs=(DIRECTORY,)),
        "00000003" + "ffffffffffffffff" + "00" * 8 + "01" + "00" + "01" + "0011" + "02" + DIRECTORY_HEX,
        id="heartbeat-1",
    ),
    pytest.param(
        ApiKey.BROKER_HEARTBEAT,
        2,
        BrokerHeartbeatRequest(broker_id=3, cordoned_log_dirs=()),
        "00000003" + "ffffffffffffffff" + "00" * 8 + "00" + "00" + "01" + "0101" + "01",
        id="heartbeat-2",
    ),
    pytest.param(
        ApiKey.UNREGISTER_BROKER, 0, UnregisterBrokerRequest(broker_id=3), "00000003" + "00", id="unregister"
    ),
    pytest.param(
        ApiKey.ALTER_PARTITION,
        2,
        altering(replace(ISR_3, new_isr=(2,), new_isr_with_epochs=())),
        ALTER_START + "02" + "00000002" + ALTER_END,
        id="alter-2",
    ),
    pytest.param(
        ApiKey.ALTER_PARTITION,
        3,
        altering(ISR_3),
        ALTER_START + "02" + "00000002" + "0000000000000009" + "00" + ALTER_END,
        id="alter-3",
    ),
    pytest.param(
        ApiKey.ALLOCATE_PRODUCER_IDS,
        0,
        AllocateProducerIdsRequest(broker_id=3, broker_epoch=9),
        "00000003" + "0000000000000009" + "00",
        id="producer-ids",
    ),
    pytest.param(
        ApiKey.ENVELOPE,
        0,
        EnvelopeRequest(request_data=b"ab", request_principal=None, client_host_address=b"\x7f"),
        "036162" + "00" + "027f" + "00",
        id="envelope",
    ),
    pytest.param(
        ApiKey.JOIN_CLUSTER,
        0,
        JoinClusterRequest(
            directory_id=DIRECTORY,
            endpoints=(JoinEndpoint(name="p", host="h", port=65535),),
            rack="r",
            node_id=7,
        ),
        "00" + DIRECTORY_HEX + "02" + ENDPOINT_HEX + "0272" + "00000007" + "00",
        id="join",
    ),
    pytest.param(
        ApiKey.DECOMMISSION_BROKER,
        0,
        DecommissionBrokerRequest(broker_id=3, is_cancelled=True),
        "00000003" + "01" + "00",
        id="decommission",
    ),
    pytest.param(
        ApiKey.DECOMMISSION_BROKER,
        1,
        DecommissionBrokerRequest(broker_id=3, is_question=True),
        "00000003" + "00" + "01" + "00",
        id="decommission-asked",
    ),
]

RESPONSES = [
    pytest.param(
        ApiKey.BROKER_REGISTRATION,
        4,
        BrokerRegistrationResponse(broker_epoch=9),
        "00000000" + "0000" + "0000000000000009" + "00",
        id="registration",
    ),
    pytest.param(
        ApiKey.BROKER_HEARTBEAT,
        2,
        BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False),
        "00000000" + "0000" + "01" + "00" + "00" + "00",
        id="heartbeat",
    ),
    pytest.param(
        ApiKey.UNREGISTER_BROKER,
        0,
        UnregisterBrokerResponse(error_code=102, error_message="no"),
        "00000000" + "0066" + "036e6f" + "00",
        id="unregister",
    ),
    pytest.param(
        ApiKey.ALTER_PARTITION,
        3,
        alter.AlterPartitionResponse(
            topics=(
                alter.TopicResult(
                    topic_id=TOPIC_ID,
                    partitions=(
                        alter.PartitionResult(
                            partition_index=1, leader_id=2, leader_epoch=5, isr=(2,), partition_epoch=7
                        ),
                    ),
                ),
            )
        ),
        "00000000" + "0000" + "02" + ID_HEX + "02" + "00000001" + "0000" + "00000002" + "00000005"
        "02" + "00000002" + "00" + "00000007" + "00" + "00" + "00",
        id="alter",
    ),
    pytest.param(
        ApiKey.ALLOCATE_PRODUCER_IDS,
        0,
        AllocateProducerIdsResponse(producer_id_start=1000, producer_id_len=1000),
        "00000000" + "0000" + "00000000000003e8" + "000003e8" + "00",
        id="producer-ids",
    ),
    pytest.param(
        ApiKey.ENVELOPE, 0, EnvelopeResponse(error_code=41), "00" + "0029" + "00", id="envelope-refused"
    ),
    pytest.param(
        ApiKey.ENVELOPE,
        0,
        EnvelopeResponse(response_data=b"ab", metadata_offset=5),
        "036162" + "0000" + "01" + "904e" + "08" + "0000000000000005",
        id="envelope",
    ),
    pytest.param(
        ApiKey.JOIN_CLUSTER,
        0,
        JoinClusterResponse(
            cluster_id="c",
            node_id=4,
            voters=(
                JoinVoter(
                    node_id=1,
                    directory_id=DIRECTORY,
                    endpoints=(JoinEndpoint(name="p", host="h", port=65535),),
                ),
            ),
        ),
        "00000000"
        + "0000"
        + "00"
        + "0263"
        + "00000004"
        + "02"
        + "00000001"
        + DIRECTORY_HEX
        + "02"
        + ENDPOINT_HEX
        + "00"
        + "00",
        id="join",
    ),
    pytest.param(
        ApiKey.DECOMMISSION_BROKER,
        0,
        DecommissionBrokerResponse(replicas_left=2, is_voter=True),
        "00000000" + "0000" + "00" + "00000002" + "01" + "00",
        id="decommission",
    ),
    pytest.param(
        ApiKey.DECOMMISSION_BROKER,
        1,
        DecommissionBrokerResponse(replicas_left=2, is_draining=False),
        "00000000" + "0000" + "00" + "00000002" + "00" + "00" + "00",
        id="decommission-called-off",
    ),
]


@pytest.mark.parametrize(("key", "version", "message", "body"), REQUESTS)
def test_request_has_the_bytes_of_the_schema(key: ApiKey, version: int, message: Struct, body: str) -> None:
    frame = bytes.fromhex(f"{key:04x}{version:04x}" + "00000009" + "0001" + "7a" + "00" + body)
    assert encode_request(key, version, 9, message, client_id="z") == len(frame).to_bytes(4) + frame
    assert decode_request(key, version, frame, decode_request_header(frame).body_position) == message


@pytest.mark.parametrize(("key", "version", "message", "body"), RESPONSES)
def test_response_has_the_bytes_of_the_schema(key: ApiKey, version: int, message: Struct, body: str) -> None:
    frame = bytes.fromhex("00000009" + "00" + body)
    assert encode_response(key, version, 9, message) == len(frame).to_bytes(4) + frame
    assert decode_response(key, version, frame) == (9, message)
