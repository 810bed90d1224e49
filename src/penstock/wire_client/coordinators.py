"""Questions that only the coordinator of a group or of a transactional id can answer.

``ask_coordinators`` takes any number of keys, sorts them by who looks after them, asks in batches and asks
again where the answer was a passing one: a coordinator that moved away is looked up anew.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum

from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.find_coordinator import GROUP, TRANSACTION, Coordinator, FindCoordinatorRequest
from penstock.wire_client.cluster import PASSING, Answer, Cluster, attempts
from penstock.wire_client.connection import Address, Connection
from penstock.wire_client.errors import check

KEYS_PER_REQUEST_MAX = 200

_MANY_KEYS_VERSION = 4
"""Of FindCoordinator: the first that takes more than one key."""


class Coordinated(IntEnum):
    """What has a coordinator."""

    GROUP = GROUP
    TRANSACTION = TRANSACTION

    @property
    def noun(self) -> str:
        """As it is called in a sentence."""
        return "group" if self is Coordinated.GROUP else "transactional id"


Ask = Callable[[Connection, Sequence[str]], Mapping[str, Answer]]
"""Asks one broker about some keys, and has an answer for each of them."""


def ask_coordinators(
    cluster: Cluster, kind: Coordinated, keys: Iterable[str], ask: Ask[Answer]
) -> dict[str, Answer]:
    """The answer for every key, in the order of ``keys``.

    The error code in it, if any, is no passing one, unless it still was when patience ended.
    """
    wanted = list(dict.fromkeys(keys))
    answers: dict[str, Answer] = {}
    pending = wanted
    for _ in attempts():
        for node_id, asked in _by_node(find_coordinators(cluster, kind, pending)).items():
            for batch in _batches(asked):
                answers |= ask(cluster.broker(node_id), batch)
        pending = [key for key in pending if answers[key].error_code in PASSING]
        if not pending:
            break
    return {key: answers[key] for key in wanted}


def ask_coordinator(
    cluster: Cluster, kind: Coordinated, key: str, ask: Callable[[Connection], Answer]
) -> Answer:
    """The answer of the coordinator of one key."""
    return ask_coordinators(cluster, kind, [key], lambda broker, _: {key: ask(broker)})[key]


def find_coordinators(cluster: Cluster, kind: Coordinated, keys: Iterable[str]) -> dict[str, int]:
    """The number of the broker that looks after each key, once there is one."""
    pending = list(keys)
    found: dict[str, Coordinator] = {}
    for _ in attempts():
        for batch in _batches(pending):
            found |= {coordinator.key: coordinator for coordinator in _find(cluster, kind, batch)}
        pending = [key for key in pending if found[key].error_code in PASSING]
        if not pending:
            break
    for coordinator in found.values():
        doing = f"find the coordinator of {kind.noun} {coordinator.key!r}"
        check(coordinator.error_code, doing=doing, detail=coordinator.error_message)
        cluster.learn_node(coordinator.node_id, Address(coordinator.host, coordinator.port))
    return {key: coordinator.node_id for key, coordinator in found.items()}


def _find(cluster: Cluster, kind: Coordinated, keys: Sequence[str]) -> Sequence[Coordinator]:
    broker = cluster.any_broker()
    if broker.version(ApiKey.FIND_COORDINATOR) < _MANY_KEYS_VERSION:
        return [_find_one(broker, kind, key) for key in keys]
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=tuple(keys))
    found: tuple[Coordinator, ...] = broker.call(ApiKey.FIND_COORDINATOR, request).coordinators
    return found


def _find_one(broker: Connection, kind: Coordinated, key: str) -> Coordinator:
    answer = broker.call(ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(key=key, key_type=kind))
    return Coordinator(
        key=key,
        node_id=answer.node_id,
        host=answer.host,
        port=answer.port,
        error_code=answer.error_code,
        error_message=answer.error_message,
    )


def _by_node(coordinators: Mapping[str, int]) -> dict[int, list[str]]:
    grouped: dict[int, list[str]] = defaultdict(list)
    for key, node_id in coordinators.items():
        grouped[node_id].append(key)
    return grouped


def _batches(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), KEYS_PER_REQUEST_MAX):
        yield keys[start : start + KEYS_PER_REQUEST_MAX]
