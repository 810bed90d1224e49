"""Settings of topics and brokers: read them, change some and leave the others alone.

Settings of one broker are asked of that very broker, as Kafka wants it; all others of any.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from penstock.metadata.resources import ALL_BROKERS, ConfigResource, ResourceType
from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from penstock.wire.messages.incremental_alter_configs import (
    DELETE,
    SET,
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.wire_client.cluster import PASSING, Cluster, attempts
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import check

ConfigChanges = Mapping[ConfigResource, Mapping[str, str | None]]
"""New values by name; None goes back to the default."""

_DYNAMIC_SOURCES = frozenset({1, 2, 7})
"""Set on the topic, on the broker itself while it runs, or on the subscription."""

_PASSING = PASSING | {ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT}


class DescribedSource(NamedTuple):
    """One of the values that a setting has, strongest first: what it is called there, and whose it is."""

    name: str
    value: str | None
    source: int


class DescribedConfig(NamedTuple):
    """A setting as a broker tells it."""

    name: str
    value: str | None
    """None for a secret, and where nothing is set."""
    source: int
    is_read_only: bool
    is_sensitive: bool
    synonyms: tuple[DescribedSource, ...]
    documentation: str


class _Outcome(NamedTuple):
    """What a broker says of one resource."""

    code: int
    message: str | None


def topic_resource(name: str) -> ConfigResource:
    """The settings of a topic."""
    return ConfigResource(ResourceType.TOPIC, name)


def broker_resource(node_id: int) -> ConfigResource:
    """The settings of one broker."""
    return ConfigResource(ResourceType.BROKER, str(node_id))


def alter_configs(cluster: Cluster, changes: ConfigChanges, *, validate_only: bool = False) -> None:
    """Make changes; the first that is refused fails the whole, and others may have been made.

    With ``validate_only`` none is made, and it is only seen whether they could be.
    """
    pending = {resource: values for resource, values in changes.items() if values}
    outcomes: dict[ConfigResource, _Outcome] = {}
    for _ in attempts():
        for node_id, resources in _by_broker(pending).items():
            outcomes |= _alter(_broker(cluster, node_id), resources, pending, validate_only=validate_only)
        pending = {each: pending[each] for each in pending if outcomes[each].code in _PASSING}
        if not pending:
            break
    for resource, outcome in outcomes.items():
        check(outcome.code, doing=f"change settings of {_noun(resource)}", detail=outcome.message)


def changed_configs(
    cluster: Cluster, resources: Iterable[ConfigResource], names: Sequence[str]
) -> dict[ConfigResource, dict[str, str | None]]:
    """Which of the settings ``names`` were set on each resource itself; those with none are left out."""
    found: dict[ConfigResource, dict[str, str | None]] = {}
    for node_id, asked in _by_broker(resources).items():
        request = DescribeConfigsRequest(
            resources=tuple(
                DescribeConfigsResource(
                    resource_type=each.type, resource_name=each.name, configuration_keys=tuple(names)
                )
                for each in asked
            )
        )
        for result in _broker(cluster, node_id).call(ApiKey.DESCRIBE_CONFIGS, request).results:
            resource = ConfigResource(ResourceType(result.resource_type), result.resource_name)
            check(result.error_code, doing=f"read settings of {_noun(resource)}", detail=result.error_message)
            changed = {
                each.name: each.value for each in result.configs if each.config_source in _DYNAMIC_SOURCES
            }
            if changed:
                found[resource] = changed
    return found


def describe_config(cluster: Cluster, resource: ConfigResource) -> list[DescribedConfig]:
    """Every setting of one resource, by name."""
    ((node_id, _),) = _by_broker([resource]).items()
    request = DescribeConfigsRequest(
        resources=(DescribeConfigsResource(resource_type=resource.type, resource_name=resource.name),),
        include_synonyms=True,
        include_documentation=True,
    )
    (result,) = _broker(cluster, node_id).call(ApiKey.DESCRIBE_CONFIGS, request).results
    check(result.error_code, doing=f"read settings of {_noun(resource)}", detail=result.error_message)
    return sorted(
        DescribedConfig(
            name=each.name,
            value=each.value,
            source=each.config_source,
            is_read_only=each.read_only,
            is_sensitive=each.is_sensitive,
            synonyms=tuple(DescribedSource(one.name, one.value, one.source) for one in each.synonyms),
            documentation=each.documentation or "",
        )
        for each in result.configs
    )


def _alter(
    broker: Connection, resources: Sequence[ConfigResource], changes: ConfigChanges, *, validate_only: bool
) -> dict[ConfigResource, _Outcome]:
    request = IncrementalAlterConfigsRequest(
        resources=tuple(
            AlterConfigsResource(
                resource_type=resource.type,
                resource_name=resource.name,
                configs=tuple(
                    AlterableConfig(name=name, config_operation=DELETE if value is None else SET, value=value)
                    for name, value in changes[resource].items()
                ),
            )
            for resource in resources
        ),
        validate_only=validate_only,
    )
    return {
        ConfigResource(ResourceType(each.resource_type), each.resource_name): _Outcome(
            each.error_code, each.error_message
        )
        for each in broker.call(ApiKey.INCREMENTAL_ALTER_CONFIGS, request).responses
    }


def _by_broker(resources: Iterable[ConfigResource]) -> dict[int | None, list[ConfigResource]]:
    """By the broker to ask; None for any."""
    grouped: dict[int | None, list[ConfigResource]] = defaultdict(list)
    for resource in resources:
        is_of_broker = resource.type is ResourceType.BROKER and resource != ALL_BROKERS
        grouped[int(resource.name) if is_of_broker else None].append(resource)
    return grouped


def _broker(cluster: Cluster, node_id: int | None) -> Connection:
    return cluster.any_broker() if node_id is None else cluster.broker(node_id)


def _noun(resource: ConfigResource) -> str:
    if resource == ALL_BROKERS:
        return "all brokers"
    if resource.type is ResourceType.BROKER:
        return f"broker {resource.name}"
    kind = "topic" if resource.type is ResourceType.TOPIC else "client metrics"
    return f"{kind} {resource.name!r}"
