import pytest
from tests.metadata.cluster import make_broker, make_image

from penstock.metadata.features import supported_features, update_features
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import BrokerFeature, FeatureLevelRecord, RegisterBrokerRecord
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.update_features import (
    SAFE_DOWNGRADE,
    UPGRADE,
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from penstock.wire.schema import replace

TRANSACTIONS = "transaction.version"


def image_at(level: int, **brokers: int) -> ClusterImage:
    """A cluster at a level, whose brokers support up to the levels named."""
    registered: list[RegisterBrokerRecord] = [
        replace(
            make_broker(int(name[-1])),
            features=(BrokerFeature(name=TRANSACTIONS, max_supported_version=highest),),
        )
        for name, highest in (brokers or {"broker1": 2}).items()
    ]
    image = make_image(brokers=registered)
    return image.apply([FeatureLevelRecord(name=TRANSACTIONS, feature_level=level)]) if level else image


def update(
    image: ClusterImage, level: int, kind: int = UPGRADE, *, name: str = TRANSACTIONS
) -> tuple[int, ClusterImage]:
    wanted = FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
    result = update_features(image, UpdateFeaturesRequest(feature_updates=(wanted,)))
    return result.response.error_code, image.apply(result.records)


def test_level_goes_up_when_every_broker_can_live_with_it() -> None:
    error, after = update(image_at(1), 2)
    assert (error, after.features[TRANSACTIONS]) == (0, 2)


def test_level_goes_down_only_when_told_so() -> None:
    assert update(image_at(2), 1)[0] == ErrorCode.INVALID_UPDATE_VERSION
    error, after = update(image_at(2), 1, SAFE_DOWNGRADE)
    assert (error, after.features[TRANSACTIONS]) == (0, 1)
    assert update(image_at(1), 2, SAFE_DOWNGRADE)[0] == ErrorCode.INVALID_UPDATE_VERSION


def test_level_below_one_forgets_the_feature() -> None:
    error, after = update(image_at(2), 0, SAFE_DOWNGRADE)
    assert error == 0
    assert TRANSACTIONS not in after.features


def test_one_broker_that_cannot_is_enough_to_refuse() -> None:
    error, _ = update(image_at(1, broker1=2, broker2=1), 2)
    assert error == ErrorCode.INVALID_UPDATE_VERSION


def test_broker_that_never_started_has_no_say() -> None:
    image = image_at(1).apply([replace(make_broker(9), features=())])
    assert update(image, 2)[0] == 0


def test_level_as_it_is_changes_nothing() -> None:
    image = image_at(2)
    error, after = update(image, 2)
    assert error == 0
    assert after.features is image.features


def test_unknown_feature_is_refused() -> None:
    assert update(image_at(1), 1, name="nothing.version")[0] == ErrorCode.INVALID_UPDATE_VERSION


def test_dry_run_changes_nothing() -> None:
    wanted = FeatureUpdateKey(feature=TRANSACTIONS, max_version_level=2)
    request = UpdateFeaturesRequest(feature_updates=(wanted,), validate_only=True)
    result = update_features(image_at(1), request)
    assert (result.response.error_code, result.records) == (0, ())


@pytest.mark.parametrize("version", [0, 1])
def test_older_versions_tell_of_each_feature(version: int) -> None:
    wanted = (
        FeatureUpdateKey(feature=TRANSACTIONS, max_version_level=2),
        FeatureUpdateKey(feature="nothing.version", max_version_level=1),
    )
    result = update_features(image_at(1), UpdateFeaturesRequest(feature_updates=wanted), version=version)
    assert result.records == ()
    assert [each.error_code for each in result.response.results] == [ErrorCode.INVALID_UPDATE_VERSION] * 2
    fine = update_features(image_at(1), UpdateFeaturesRequest(feature_updates=wanted[:1]), version=version)
    assert [each.error_code for each in fine.response.results] == [0]


def test_downgrade_of_version_zero_has_a_flag() -> None:
    wanted = FeatureUpdateKey(feature=TRANSACTIONS, max_version_level=1, allow_downgrade=True)
    result = update_features(image_at(2), UpdateFeaturesRequest(feature_updates=(wanted,)), version=0)
    assert len(result.records) == 1


def test_feature_named_twice_is_refused() -> None:
    wanted = FeatureUpdateKey(feature=TRANSACTIONS, max_version_level=2)
    result = update_features(image_at(1), UpdateFeaturesRequest(feature_updates=(wanted, wanted)))
    assert result.response.error_code == ErrorCode.INVALID_REQUEST


def test_this_version_supports_what_it_registers_with() -> None:
    ranges = {each.name: each for each in supported_features()}
    assert (
        ranges["metadata.version"].min_supported_version == ranges["metadata.version"].max_supported_version
    )
    assert ranges[TRANSACTIONS].min_supported_version == 0
