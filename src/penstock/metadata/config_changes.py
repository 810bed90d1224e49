"""AlterConfigs and IncrementalAlterConfigs: settings of topics, brokers and subscriptions of metrics.

The old API replaces all settings of a resource, the new one (KIP-339) changes some. Both come down to the
settings a resource shall have afterwards; the difference to what it has becomes records. A resource is
changed as a whole or not at all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from penstock.config.broker_config import BrokerConfig
from penstock.config.client_metrics_config import client_metrics_config
from penstock.config.definition import ConfigType
from penstock.config.settings import Settings
from penstock.config.topic_config import topic_config
from penstock.metadata.config_rules import check_broker_configs, check_client_metrics, check_topic_configs
from penstock.metadata.eligibility import with_eligibility
from penstock.metadata.image import NO_CONFIGS, ClusterImage
from penstock.metadata.outcome import duplicates, invalid_request, message_of
from penstock.metadata.records import ConfigRecord, MetadataRecord
from penstock.metadata.resources import ALL_BROKERS, ConfigResource, ResourceType
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId
from penstock.model.names import check_topic_name
from penstock.wire.messages import alter_configs as whole
from penstock.wire.messages import incremental_alter_configs as incremental

Edit = Callable[[Mapping[str, str], Settings], dict[str, str]]
"""From what is set on a resource, and what it lives by, to what shall be set."""

Alteration = tuple[tuple[int, str], Edit]
"""Resource type and name as they came in, and what to do."""

_LIST_OPERATIONS = {incremental.APPEND: "APPEND", incremental.SUBTRACT: "SUBTRACT"}


def alter_configs(
    image: ClusterImage, request: whole.AlterConfigsRequest, *, config: BrokerConfig
) -> Result[whole.AlterConfigsResponse]:
    """Give resources exactly the settings of the request."""
    records, errors = _decide(
        image,
        config,
        [
            ((each.resource_type, each.resource_name), partial(_replace, each.configs))
            for each in request.resources
        ],
    )
    responses = tuple(
        whole.AlterConfigsResourceResponse(
            error_code=ErrorCode.NONE if error is None else error.code,
            error_message=None if error is None else message_of(error),
            resource_type=each.resource_type,
            resource_name=each.resource_name,
        )
        for each, error in zip(request.resources, errors, strict=True)
    )
    response = whole.AlterConfigsResponse(responses=responses)
    return Result(records=() if request.validate_only else records, response=response)


def incremental_alter_configs(
    image: ClusterImage, request: incremental.IncrementalAlterConfigsRequest, *, config: BrokerConfig
) -> Result[incremental.IncrementalAlterConfigsResponse]:
    """Set, take away, append to and subtract from settings of resources."""
    records, errors = _decide(
        image,
        config,
        [
            ((each.resource_type, each.resource_name), partial(_edit, each.configs))
            for each in request.resources
        ],
    )
    responses = tuple(
        incremental.AlterConfigsResourceResponse(
            error_code=ErrorCode.NONE if error is None else error.code,
            error_message=None if error is None else message_of(error),
            resource_type=each.resource_type,
            resource_name=each.resource_name,
        )
        for each, error in zip(request.resources, errors, strict=True)
    )
    response = incremental.IncrementalAlterConfigsResponse(responses=responses)
    return Result(records=() if request.validate_only else records, response=response)


def _decide(
    image: ClusterImage, config: BrokerConfig, alterations: Sequence[Alteration]
) -> tuple[tuple[MetadataRecord, ...], list[ApiError | None]]:
    """Records for all alterations that may be made, and for each alteration why it may not."""
    repeated = duplicates(target for target, _ in alterations)
    records: list[ConfigRecord] = []
    errors: list[ApiError | None] = []
    for target, edit in alterations:
        try:
            if target in repeated:
                raise invalid_request("Each resource must appear at most once.")
            records += _alter(image, config, _resource(*target), edit)
            errors.append(None)
        except ApiError as error:
            errors.append(error)
    return with_eligibility(image, records), errors


def _resource(resource_type: int, name: str) -> ConfigResource:
    if resource_type not in ResourceType.__members__.values():
        raise invalid_request(f"Unknown resource type {resource_type}")
    return ConfigResource(ResourceType(resource_type), name)


def _alter(
    image: ClusterImage, config: BrokerConfig, resource: ConfigResource, edit: Edit
) -> list[ConfigRecord]:
    present = image.configs.get(resource, NO_CONFIGS)
    if resource.type is ResourceType.TOPIC:
        _check_topic_resource_name(resource.name)
        wanted = edit(present, topic_config(present, config))
        check_topic_configs(wanted, config)
        if resource.name not in image.topics:
            raise ApiError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{resource.name}' does not exist."
            )
    elif resource.type is ResourceType.CLIENT_METRICS:
        wanted = edit(present, client_metrics_config(present))
        check_client_metrics(image, resource, wanted)
    else:
        _check_broker_resource_name(image, resource.name, config)
        wanted = edit(present, config)
        _check_broker_change(image, config, resource, wanted)
    return _difference(resource, present, wanted)


def _check_topic_resource_name(name: str) -> None:
    if name == "":
        raise invalid_request("Default topic resources are not allowed.")
    check_topic_name(name)


def _check_broker_resource_name(image: ClusterImage, name: str, config: BrokerConfig) -> None:
    """Whoever decides may be another broker than the one it is about; the empty name stands for all."""
    node_id = config.integer("node.id")
    if name not in ("", str(node_id), *map(str, image.brokers)):
        raise invalid_request(f"Unexpected broker id, expected {node_id}, but received {name}")


def _check_broker_change(
    image: ClusterImage, config: BrokerConfig, resource: ConfigResource, wanted: Mapping[str, str]
) -> None:
    for_all = resource == ALL_BROKERS
    node_id = NodeId(config.integer("node.id"))
    others = image.broker_configs(node_id) if for_all else image.cluster_configs()
    check_broker_configs(wanted, config, others=others, for_all=for_all)


def _replace(
    configs: Iterable[whole.AlterableConfig], present: Mapping[str, str], effective: Settings
) -> dict[str, str]:
    _check_given((each.name, each.value) for each in configs)
    return {each.name: each.value for each in configs if each.value is not None}


def _edit(
    configs: Iterable[incremental.AlterableConfig], present: Mapping[str, str], effective: Settings
) -> dict[str, str]:
    _check_given(
        (each.name, "" if each.config_operation == incremental.DELETE else each.value) for each in configs
    )
    wanted = dict(present)
    for each in configs:
        if each.config_operation == incremental.DELETE:
            wanted.pop(each.name, None)
        elif each.config_operation == incremental.SET:
            wanted[each.name] = each.value or ""
        elif each.config_operation in _LIST_OPERATIONS:
            wanted[each.name] = _edit_list(each, effective)
        else:
            raise invalid_request(f"Unknown operations type {each.config_operation}")
    return wanted


def _check_given(values: Iterable[tuple[str, str | None]]) -> None:
    """Every name once, and every name with a value."""
    given = list(values)
    if duplicates(name for name, _ in given):
        raise invalid_request("Error due to duplicate config keys")
    missing = [name for name, value in given if value is None]
    if missing:
        raise invalid_request(f"Null value not supported for : {', '.join(missing)}")


def _edit_list(change: incremental.AlterableConfig, effective: Settings) -> str:
    """A list with items added or taken out; it starts from the value in force, set or default."""
    key = effective.keys.get(change.name)
    if key is None or key.type is not ConfigType.LIST:
        operation = _LIST_OPERATIONS[change.config_operation]
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            f"Can't {operation} to key {change.name} because its type is not LIST.",
        )
    items = list(effective.strings(change.name))
    operands = [item.strip() for item in (change.value or "").split(",")]
    if change.config_operation == incremental.APPEND:
        return ",".join(items + [item for item in operands if item not in items])
    return ",".join(item for item in items if item not in operands)


def _difference(
    resource: ConfigResource, present: Mapping[str, str], wanted: Mapping[str, str]
) -> list[ConfigRecord]:
    """Records that lead from one set of settings to the other, in the order of names."""
    changed = sorted(name for name in present.keys() | wanted.keys() if present.get(name) != wanted.get(name))
    return [
        ConfigRecord(
            resource_type=resource.type, resource_name=resource.name, name=name, value=wanted.get(name)
        )
        for name in changed
    ]
