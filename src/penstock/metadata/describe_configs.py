"""DescribeConfigs: every setting of a topic, broker or subscription, its value, and where that comes from."""

from collections.abc import Iterable

from penstock.config.broker_config import BrokerConfig
from penstock.config.client_metrics_config import client_metrics_config
from penstock.config.settings import ConfigSource, Setting, Settings
from penstock.metadata.effective_config import topic_config_in
from penstock.metadata.image import NO_CONFIGS, ClusterImage
from penstock.metadata.outcome import invalid_request, message_of
from penstock.metadata.resources import ConfigResource, ResourceType
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.names import check_topic_name
from penstock.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)


def describe_configs(
    image: ClusterImage, request: DescribeConfigsRequest, *, config: BrokerConfig
) -> DescribeConfigsResponse:
    """The settings asked for; ``config`` holds this broker's settings in force."""
    return DescribeConfigsResponse(
        results=tuple(_describe(image, request, resource, config) for resource in request.resources)
    )


def _describe(
    image: ClusterImage,
    request: DescribeConfigsRequest,
    resource: DescribeConfigsResource,
    config: BrokerConfig,
) -> DescribeConfigsResult:
    try:
        configs = tuple(_entries(image, request, resource, config))
    except ApiError as error:
        return DescribeConfigsResult(
            error_code=error.code,
            error_message=message_of(error),
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
    return DescribeConfigsResult(
        resource_type=resource.resource_type, resource_name=resource.resource_name, configs=configs
    )


def _entries(
    image: ClusterImage,
    request: DescribeConfigsRequest,
    resource: DescribeConfigsResource,
    config: BrokerConfig,
) -> Iterable[DescribeConfigsResourceResult]:
    if resource.resource_type == ResourceType.TOPIC:
        settings, names = _topic_settings(image, resource.resource_name, config)
    elif resource.resource_type == ResourceType.BROKER:
        settings, names = _broker_settings(image, resource.resource_name, config)
    elif resource.resource_type == ResourceType.CLIENT_METRICS:
        settings, names = _subscription_settings(image, resource.resource_name)
    else:
        raise invalid_request(f"Unsupported resource type: {resource.resource_type}")
    wanted = set(resource.configuration_keys or names)
    is_for_all = resource.resource_type == ResourceType.BROKER and resource.resource_name == ""
    for name in names:
        if name in wanted:
            stack = _visible(settings.stack(name), only_cluster=is_for_all)
            yield _entry(settings, name, stack, request)


def _topic_settings(image: ClusterImage, name: str, config: BrokerConfig) -> tuple[Settings, list[str]]:
    check_topic_name(name)
    if name not in image.topics:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    settings = topic_config_in(image, name, config)
    return settings, list(settings)


def _broker_settings(image: ClusterImage, name: str, config: BrokerConfig) -> tuple[Settings, list[str]]:
    """All settings of this broker; for the empty name only those set for all brokers."""
    if name == "":
        return config, sorted(set(image.cluster_configs()) & set(config))
    node_id = config.integer("node.id")
    if name != str(node_id):
        raise invalid_request(
            f"Unexpected broker id, expected {node_id} or empty string, but received {name}"
        )
    return config, list(config)


def _subscription_settings(image: ClusterImage, name: str) -> tuple[Settings, list[str]]:
    """As in Kafka one that nobody has made has the defaults, and asks for nothing."""
    if name == "":
        raise invalid_request("A subscription of client metrics must have a name.")
    present = image.configs.get(ConfigResource(ResourceType.CLIENT_METRICS, name), NO_CONFIGS)
    settings = client_metrics_config(present)
    return settings, list(settings)


def _visible(stack: tuple[Setting, ...], *, only_cluster: bool) -> tuple[Setting, ...]:
    if only_cluster:
        return tuple(each for each in stack if each.source is ConfigSource.DYNAMIC_DEFAULT_BROKER)
    return stack


def _entry(
    settings: Settings, name: str, stack: tuple[Setting, ...], request: DescribeConfigsRequest
) -> DescribeConfigsResourceResult:
    key = settings.keys[name]
    return DescribeConfigsResourceResult(
        name=name,
        value=None if key.is_sensitive else key.format(stack[0].value),
        read_only=not key.dynamic,
        config_source=stack[0].source,
        is_sensitive=key.is_sensitive,
        synonyms=_synonyms(stack, is_sensitive=key.is_sensitive) if request.include_synonyms else (),
        config_type=key.type,
        documentation=key.doc if request.include_documentation else None,
    )


def _synonyms(stack: tuple[Setting, ...], *, is_sensitive: bool) -> tuple[DescribeConfigsSynonym, ...]:
    return tuple(
        DescribeConfigsSynonym(name=each.name, value=None if is_sensitive else each.text, source=each.source)
        for each in stack
        if each.value is not None
    )
