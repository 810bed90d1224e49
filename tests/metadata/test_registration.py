from penstock.metadata.image import ClusterImage
from penstock.metadata.records import BrokerEndpoint, FeatureLevelRecord, RegisterBrokerRecord
from penstock.metadata.registration import FEATURES, register_broker
from penstock.metadata.result import Result
from penstock.model.ids import NodeId

ENDPOINTS = (BrokerEndpoint(name="PLAINTEXT", host="h", port=9092),)


def register(image: ClusterImage) -> Result[int]:
    return register_broker(
        image,
        node_id=NodeId(1),
        incarnation_id=b"i" * 16,
        endpoints=ENDPOINTS,
        rack="r",
        directory_id=b"d" * 16,
    )


def test_first_registration_brings_the_features_along() -> None:
    result = register(ClusterImage())
    features = tuple(FeatureLevelRecord(name=name, feature_level=level) for name, level in FEATURES.items())
    assert result.response == 0
    assert result.records == (
        *features,
        RegisterBrokerRecord(
            broker_id=1,
            incarnation_id=b"i" * 16,
            broker_epoch=0,
            end_points=ENDPOINTS,
            rack="r",
            fenced=False,
            log_dirs=(b"d" * 16,),
        ),
    )


def test_every_registration_has_a_larger_epoch() -> None:
    image = ClusterImage().apply(register(ClusterImage()).records)
    again = register(image)
    assert again.response == 1
    assert len(again.records) == 1
    assert image.apply(again.records).brokers[NodeId(1)].epoch == 1
