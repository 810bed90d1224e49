"""What may be set on topics, brokers and subscriptions of metrics, before the metadata log has it."""

from collections.abc import Mapping

from penstock.config.broker_config import BrokerConfig, check_together
from penstock.config.broker_keys import BROKER_KEYS
from penstock.config.client_metrics_keys import CLIENT_METRICS_KEYS
from penstock.config.definition import ConfigError, ConfigKey, unknown_key
from penstock.config.topic_config import topic_config
from penstock.config.topic_keys import TOPIC_KEYS
from penstock.metadata.image import ClusterImage
from penstock.metadata.outcome import invalid_request
from penstock.metadata.resources import ConfigResource, ResourceType
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import CONFIG_VALUE_LENGTH_MAX, TELEMETRY_SUBSCRIPTIONS_MAX


def check_topic_configs(overrides: Mapping[str, str], broker: BrokerConfig) -> None:
    """Raise INVALID_CONFIG unless a topic may carry ``overrides``."""
    try:
        for name, text in overrides.items():
            _check_value(TOPIC_KEYS, name, text)
        _check_compaction_lags(overrides, broker)
    except ConfigError as error:
        raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error


def check_broker_configs(
    overrides: Mapping[str, str], config: BrokerConfig, *, others: Mapping[str, str], for_all: bool
) -> None:
    """Raise INVALID_REQUEST, as Kafka does here, unless brokers may be given ``overrides`` while they run.

    ``others`` is what is set on the other level: on this broker if ``overrides`` are for all, or vice versa.
    """
    try:
        for name, text in overrides.items():
            _check_value(BROKER_KEYS, name, text)
            if not BROKER_KEYS[name].dynamic:
                raise ConfigError(f"Cannot update these configs dynamically: {name}.")
        cluster, broker = (overrides, others) if for_all else (others, overrides)
        check_together(config.with_dynamic(cluster=cluster, broker=broker))
    except ConfigError as error:
        raise invalid_request(str(error)) from error


def check_client_metrics(image: ClusterImage, resource: ConfigResource, wanted: Mapping[str, str]) -> None:
    """Raise INVALID_REQUEST unless there may be such a subscription, INVALID_CONFIG for a wrong pattern."""
    if resource.name == "":
        raise invalid_request("A subscription of client metrics must have a name.")
    is_new = wanted and resource not in image.configs
    if is_new and len(subscription_names(image)) >= TELEMETRY_SUBSCRIPTIONS_MAX:
        raise invalid_request(
            f"There are {TELEMETRY_SUBSCRIPTIONS_MAX} subscriptions of client metrics already, which is the "
            "limit; delete one first."
        )
    for name, text in wanted.items():
        try:
            _check_value(CLIENT_METRICS_KEYS, name, text)
        except ConfigError as error:
            code = ErrorCode.INVALID_CONFIG if name == "match" else ErrorCode.INVALID_REQUEST
            raise ApiError(code, str(error)) from error


def subscription_names(image: ClusterImage) -> list[str]:
    """The subscriptions of client metrics that there are; each has at least one setting."""
    return sorted(each.name for each in image.configs if each.type is ResourceType.CLIENT_METRICS)


def _check_value(keys: Mapping[str, ConfigKey], name: str, text: str) -> None:
    if name not in keys:
        raise unknown_key(name, keys)
    if len(text) > CONFIG_VALUE_LENGTH_MAX:
        raise ConfigError(
            f"The value for configuration {name} is {len(text)} characters long, the limit is "
            f"{CONFIG_VALUE_LENGTH_MAX}."
        )
    keys[name].parse(text)


def _check_compaction_lags(overrides: Mapping[str, str], broker: BrokerConfig) -> None:
    shortest, longest = "min.compaction.lag.ms", "max.compaction.lag.ms"
    if shortest not in overrides and longest not in overrides:
        return
    config = topic_config(overrides, broker)
    if config.integer(shortest) > config.integer(longest):
        raise ConfigError(
            f"Conflicting settings: {shortest} ({config.integer(shortest)}) is larger than {longest} "
            f"({config.integer(longest)})."
        )
