"""Making a topic that a program needs for itself, unless it is there."""

from collections.abc import Mapping
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from penstock.wire_client.cluster import PASSING, Cluster
from penstock.wire_client.errors import check
from penstock.wire_client.patience import Patience, ask_again
from penstock.wire_client.topics import find_leaders

_REPLICAS_MAX = 3
_TIMEOUT_MS = 10_000
_PASSING = PASSING | {ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT}
_NO_CONTROLLER = -1


def ensure_topic(
    cluster: Cluster,
    name: str,
    *,
    configs: Mapping[str, str],
    partition_count: int = 1,
    patience: Patience | None = None,
) -> None:
    """Make the topic unless there is one of that name, on three brokers or as many as there are."""
    patience = patience or Patience()
    if ask_again(lambda: find_leaders(cluster, [name]), is_passing=lambda _: False, patience=patience):
        return
    topic = CreatableTopic(
        name=name,
        num_partitions=partition_count,
        replication_factor=min(_REPLICAS_MAX, len(cluster.nodes)),
        configs=tuple(CreatableTopicConfig(name=key, value=value) for key, value in configs.items()),
    )
    request = CreateTopicsRequest(topics=(topic,), timeout_ms=_TIMEOUT_MS)
    answer = ask_again(
        lambda: _ask_controller(cluster, request),
        is_passing=lambda answer: answer.topics[0].error_code in _PASSING,
        patience=patience,
    )
    (made,) = answer.topics
    if made.error_code != ErrorCode.TOPIC_ALREADY_EXISTS:
        check(made.error_code, doing=f"create topic {name!r}", detail=made.error_message)


def _ask_controller(cluster: Cluster, request: CreateTopicsRequest) -> Any:
    controller_id = cluster.metadata(()).controller_id
    broker = cluster.any_broker() if controller_id == _NO_CONTROLLER else cluster.broker(controller_id)
    return broker.call(ApiKey.CREATE_TOPICS, request)
