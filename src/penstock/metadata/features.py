"""Levels of features that the whole cluster agrees on, and who can live with which (KIP-584)."""

from penstock.metadata.image import ClusterImage
from penstock.metadata.outcome import duplicates, invalid_request, message_of
from penstock.metadata.records import BrokerFeature, FeatureLevelRecord
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.wire.messages.update_features import (
    UPGRADE,
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

FEATURES = {"metadata.version": 7, "group.version": 1, "transaction.version": 2}
"""What this version runs at; level 7 is the lowest Kafka 4 knows. More follow with what they stand for."""

METADATA_VERSION = "metadata.version"
ONE_OUTCOME_SINCE_VERSION = 2


def supported_features() -> tuple[BrokerFeature, ...]:
    """What this version of Penstock can live with; the level of the metadata's format is fixed."""
    return tuple(
        BrokerFeature(
            name=name,
            min_supported_version=level if name == METADATA_VERSION else 0,
            max_supported_version=level,
        )
        for name, level in FEATURES.items()
    )


def missing_features(image: ClusterImage) -> tuple[FeatureLevelRecord, ...]:
    """Levels for features that the cluster has not agreed on yet."""
    return tuple(
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in FEATURES.items()
        if name not in image.features
    )


def check_supports(image: ClusterImage, supported: tuple[BrokerFeature, ...], *, node_id: int) -> None:
    """Raise UNSUPPORTED_VERSION unless a broker can live with every level agreed on."""
    ranges = {each.name: each for each in supported}
    if METADATA_VERSION not in ranges:
        raise ApiError(
            ErrorCode.INVALID_REGISTRATION, f"Request features do not contain '{METADATA_VERSION}'"
        )
    for name, level in image.features.items():
        known = ranges.get(name, BrokerFeature(name=name))
        if not known.min_supported_version <= level <= known.max_supported_version:
            raise ApiError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"Unable to register because the broker does not support finalized version {level} of "
                f"{name}. The broker wants a version between {known.min_supported_version} and "
                f"{known.max_supported_version}, inclusive. (broker {node_id})",
            )


def update_features(
    image: ClusterImage, request: UpdateFeaturesRequest, *, version: int = ONE_OUTCOME_SINCE_VERSION
) -> Result[UpdateFeaturesResponse]:
    """Decide on the levels of a request: all change, or none does."""
    twice = duplicates(each.feature for each in request.feature_updates)
    outcomes: dict[str, ApiError | None] = {}
    for each in request.feature_updates:
        try:
            if each.feature in twice:
                raise invalid_request("Provided feature can not be listed twice.")
            _check(image, each, may_go_down=_may_go_down(each, version))
            outcomes[each.feature] = None
        except ApiError as error:
            outcomes[each.feature] = error
    failed = next((error for error in outcomes.values() if error is not None), None)
    records = tuple(
        FeatureLevelRecord(name=each.feature, feature_level=max(0, each.max_version_level))
        for each in request.feature_updates
        if image.features.get(each.feature, 0) != max(0, each.max_version_level)
    )
    return Result(
        records=() if failed is not None or request.validate_only else records,
        response=_answer(outcomes, failed, version=version),
    )


def _may_go_down(update: FeatureUpdateKey, version: int) -> bool:
    return update.allow_downgrade if version == 0 else update.upgrade_type != UPGRADE


def _check(image: ClusterImage, update: FeatureUpdateKey, *, may_go_down: bool) -> None:
    name, wanted = update.feature, max(0, update.max_version_level)
    present = image.features.get(name, 0)
    if name not in FEATURES:
        raise _impossible(update, "this cluster does not know it.")
    if wanted < present and not may_go_down:
        raise _impossible(update, f"it is at level {present}, and a downgrade was not asked for.")
    if wanted > present and may_go_down:
        raise _impossible(update, f"it is at level {present}, and a downgrade was asked for.")
    for node_id in sorted(image.brokers):
        broker = image.brokers[node_id]
        if not broker.features:  # It has an id, but has never started; it is asked when it does.
            continue
        known = next((each for each in broker.features if each.name == name), BrokerFeature(name=name))
        if not known.min_supported_version <= wanted <= known.max_supported_version:
            raise _impossible(
                update,
                f"broker {broker.node_id} only supports versions {known.min_supported_version}-"
                f"{known.max_supported_version}.",
            )


def _impossible(update: FeatureUpdateKey, reason: str) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_UPDATE_VERSION,
        f"Invalid update version {update.max_version_level} for feature {update.feature}: {reason}",
    )


def _answer(
    outcomes: dict[str, ApiError | None], failed: ApiError | None, *, version: int
) -> UpdateFeaturesResponse:
    """Since version 2 the first error stands for all; before, each has its own."""
    if version >= ONE_OUTCOME_SINCE_VERSION:
        if failed is None:
            return UpdateFeaturesResponse()
        return UpdateFeaturesResponse(error_code=failed.code, error_message=message_of(failed))
    return UpdateFeaturesResponse(
        results=tuple(_result(name, error or failed) for name, error in outcomes.items())
    )


def _result(name: str, error: ApiError | None) -> UpdatableFeatureResult:
    if error is None:
        return UpdatableFeatureResult(feature=name)
    return UpdatableFeatureResult(feature=name, error_code=error.code, error_message=message_of(error))
