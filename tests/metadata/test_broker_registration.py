import pytest
from tests.metadata.cluster import (
    ONE,
    ORDERS,
    TWO,
    directory_of,
    make_broker,
    make_image,
    make_partition,
    only,
)

from penstock.metadata.broker_registration import register_in_cluster
from penstock.metadata.features import FEATURES, supported_features
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import FeatureLevelRecord
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId
from penstock.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
    LostPartitions,
)
from penstock.wire.schema import replace

NEXT_OFFSET = 100
NEW_PROCESS = b"n" * 16

REQUEST = BrokerRegistrationRequest(
    broker_id=2,
    cluster_id="here",
    incarnation_id=NEW_PROCESS,
    listeners=(Listener(name="PLAINTEXT", host="host2", port=9002),),
    features=tuple(
        Feature(
            name=each.name,
            min_supported_version=each.min_supported_version,
            max_supported_version=each.max_supported_version,
        )
        for each in supported_features()
    ),
    rack="rack2",
    log_dirs=(directory_of(2),),
    previous_broker_epoch=12,
)


def register(
    image: ClusterImage, request: BrokerRegistrationRequest = REQUEST, *, has_session: bool = False
) -> Result[BrokerRegistrationResponse]:
    return register_in_cluster(
        image, request, cluster_id="here", next_offset=NEXT_OFFSET, has_session=has_session
    )


def test_first_broker_of_a_cluster_brings_its_features() -> None:
    result = register(ClusterImage())
    image = ClusterImage().apply(result.records)
    assert result.response.broker_epoch == NEXT_OFFSET
    broker = image.brokers[TWO]
    assert (broker.epoch, broker.is_fenced, broker.rack) == (NEXT_OFFSET, True, "rack2")
    assert broker.endpoints[0].port == 9002
    assert image.features == FEATURES


def test_new_process_is_out_of_every_set_but_eligible_where_it_kept_everything() -> None:
    image = make_image(make_partition(isr=(1, 2)), configs={"min.insync.replicas": "2"})
    result = register(image)
    after = image.apply(result.records)
    assert only(after).isr == (ONE,)
    assert only(after).eligible_leader_replicas == (TWO,)
    assert after.brokers[TWO].is_fenced
    assert result.records[-1] == replace(
        make_broker(2, fenced=True),
        broker_epoch=NEXT_OFFSET,
        incarnation_id=NEW_PROCESS,
        features=supported_features(),
    )


def test_last_replica_standing_that_kept_everything_may_lead_again() -> None:
    image = make_image(make_partition((2,), isr=(2,)))
    after = image.apply(register(image).records)
    assert (only(after).leader, only(after).eligible_leader_replicas) == (-1, (TWO,))


@pytest.mark.parametrize(
    "changes",
    [
        {"previous_broker_epoch": -1},
        {"previous_broker_epoch": 11},
        {"log_dirs": (b"other directory ",)},
        {"lost_partitions": (LostPartitions(topic_id=ORDERS, partitions=(0,)),)},
    ],
    ids=["unclean", "older", "wiped", "named"],
)
def test_new_process_that_may_have_lost_records_is_not_eligible(changes: dict[str, object]) -> None:
    image = make_image(make_partition(isr=(2,), elr=(1,)), configs={"min.insync.replicas": "2"})
    after = image.apply(register(image, replace(REQUEST, **changes)).records)
    assert (only(after).leader, only(after).isr) == (ONE, (ONE,))
    assert only(after).eligible_leader_replicas == ()


def test_loss_in_one_partition_says_nothing_of_another() -> None:
    partition = make_partition(isr=(2,), elr=(1,))
    image = make_image(partition, partition, configs={"min.insync.replicas": "2"})
    lost = LostPartitions(topic_id=ORDERS, partitions=(1,))
    after = image.apply(register(image, replace(REQUEST, lost_partitions=(lost,))).records)
    first, second = after.topics["orders"].partitions
    assert first.eligible_leader_replicas == (TWO,)
    assert second.eligible_leader_replicas == ()


def test_epoch_is_larger_than_any_before() -> None:
    image = make_image(brokers=[replace(make_broker(2), broker_epoch=500)])
    assert register(image).response.broker_epoch == 501


def test_same_process_asking_again_keeps_epoch_and_state() -> None:
    image = make_image(brokers=[replace(make_broker(2, stopping=True), incarnation_id=NEW_PROCESS)])
    result = register(image, replace(REQUEST, rack="elsewhere"))
    broker = image.apply(result.records).brokers[TWO]
    assert result.response.broker_epoch == 12
    assert (broker.epoch, broker.rack, broker.is_fenced) == (12, "elsewhere", False)
    assert broker.is_in_controlled_shutdown
    assert only(image.apply(result.records)).isr == only(image).isr


def test_broker_that_is_being_emptied_goes_on_being_emptied() -> None:
    image = make_image(brokers=[make_broker(2, cordoned=True)])
    assert image.apply(register(image).records).brokers[TWO].is_cordoned


def test_other_directory_with_a_living_broker_of_that_id_is_refused() -> None:
    other = replace(REQUEST, log_dirs=(b"other directory ",))
    image = make_image()
    refused = register(image, other, has_session=True)
    assert refused.response.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert refused.records == ()
    assert register(image, other, has_session=False).response.error_code == 0


def test_same_directory_is_taken_at_once_since_it_is_locked() -> None:
    assert register(make_image(), has_session=True).response.error_code == 0


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"cluster_id": "elsewhere"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"log_dirs": ()}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": (bytes(16),)}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": (b"d" * 16, b"d" * 16)}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": (directory_of(1),)}, ErrorCode.INVALID_REGISTRATION),
        ({"features": ()}, ErrorCode.INVALID_REGISTRATION),
    ],
)
def test_registration_that_makes_no_sense_is_refused(changes: dict[str, object], error: ErrorCode) -> None:
    result = register(make_image(), replace(REQUEST, **changes))
    assert (result.records, result.response.error_code) == ((), error)


def test_broker_that_cannot_live_with_the_clusters_features_is_refused() -> None:
    image = make_image().apply([FeatureLevelRecord(name="transaction.version", feature_level=9)])
    assert register(image).response.error_code == ErrorCode.UNSUPPORTED_VERSION
    unknown = make_image().apply([FeatureLevelRecord(name="later.version", feature_level=1)])
    assert register(unknown).response.error_code == ErrorCode.UNSUPPORTED_VERSION


def test_broker_unknown_so_far_is_in_no_set() -> None:
    image = make_image()
    new = replace(REQUEST, broker_id=9, log_dirs=(b"new directory   ",), previous_broker_epoch=-1)
    after = image.apply(register(image, new).records)
    assert only(after) == only(image)
    assert after.brokers[NodeId(9)].is_fenced


def test_broker_that_was_forgotten_is_refused() -> None:
    image = make_image()
    forgotten = replace(REQUEST, broker_id=9, log_dirs=(b"its directory   ",), previous_broker_epoch=19)
    result = register(image, forgotten)
    assert (result.records, result.response.error_code) == ((), ErrorCode.BROKER_ID_NOT_REGISTERED)
    alone = make_image(brokers=[])
    assert register(alone, forgotten).response.error_code == ErrorCode.NONE


def test_broker_that_was_forgotten_is_refused_though_another_directory_has_its_id_now() -> None:
    image = make_image()
    forgotten = replace(REQUEST, log_dirs=(b"its directory   ",), previous_broker_epoch=11)
    for has_session in (True, False):
        result = register(image, forgotten, has_session=has_session)
        assert (result.records, result.response.error_code) == ((), ErrorCode.BROKER_ID_NOT_REGISTERED)
    assert register(image, replace(REQUEST, previous_broker_epoch=11)).response.error_code == ErrorCode.NONE
