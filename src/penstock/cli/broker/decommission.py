"""Taking a broker out of its cluster: everything on it moves to others, then it is forgotten.

The controller does the work, and one request of Penstock's own both starts it and asks how far it is. Whoever
waits only asks: somebody else may call it off.
"""

from enum import StrEnum
from typing import Any, NamedTuple

from penstock.cli.durations import format_duration
from penstock.cli.failure import CommandFailed
from penstock.cli.progress import watch
from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.decommission_broker import (
    DecommissionBrokerRequest,
    DecommissionBrokerResponse,
)
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.controller import ask_controller
from penstock.wire_client.errors import RefusedError, check

_ADD_ROOM = frozenset({ErrorCode.POLICY_VIOLATION, ErrorCode.INVALID_REPLICATION_FACTOR})
"""The answers that mean that the others could not hold what the broker holds."""


class Outcome(StrEnum):
    """What has become of it."""

    DRAINING = "draining"
    DECOMMISSIONED = "decommissioned"
    CANCELLED = "cancelled"


class Decommission(NamedTuple):
    """How far it is."""

    broker: int
    outcome: Outcome
    replicas_left: int
    is_voter: bool

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        return self._asdict()

    def __str__(self) -> str:
        match self.outcome:
            case Outcome.DECOMMISSIONED:
                return f"broker {self.broker}: decommissioned, its process is no longer needed"
            case Outcome.CANCELLED:
                return f"broker {self.broker}: takes replicas again"
            case Outcome.DRAINING:
                voter = ", still a voter of the quorum" if self.is_voter else ""
                return f"broker {self.broker}: being emptied, {_replicas(self.replicas_left)} left{voter}"


def begin_decommission(cluster: Cluster, broker: int) -> Decommission:
    """Have a broker emptied; one that is being emptied already goes on."""
    _require_served(cluster)
    answer = _ask(cluster, DecommissionBrokerRequest(broker_id=broker))
    _check_possible(answer, broker)
    return _draining(broker, answer)


def cancel_decommission(cluster: Cluster, broker: int) -> Decommission:
    """Leave on a broker what is there, and let it have more."""
    _require_served(cluster)
    answer = _ask(cluster, DecommissionBrokerRequest(broker_id=broker, is_cancelled=True))
    check(answer.error_code, doing=f"keep broker {broker}", detail=answer.error_message)
    return Decommission(broker, Outcome.CANCELLED, answer.replicas_left, answer.is_voter)


def wait_decommissioned(cluster: Cluster, begun: Decommission, *, seconds_max: float) -> Decommission:
    """Wait until nobody knows the broker any more; fails when that takes longer, without giving it up."""
    last = begun

    def left() -> int | None:
        nonlocal last
        last = _look(cluster, begun.broker)
        return None if last.outcome is Outcome.DECOMMISSIONED else last.replicas_left

    try:
        watch(f"Emptying broker {begun.broker}", left, total=begun.replicas_left, seconds_max=seconds_max)
    except KeyboardInterrupt:
        raise _unfinished(last, "now") from None
    if last.outcome is not Outcome.DECOMMISSIONED:
        raise _unfinished(last, f"after {format_duration(round(seconds_max * 1000))}")
    return last


def _check_possible(answer: DecommissionBrokerResponse, broker: int) -> None:
    """Raise, with a hint, unless the controller agreed."""
    refusal = RefusedError(
        answer.error_code, doing=f"decommission broker {broker}", detail=answer.error_message
    )
    if answer.error_code in _ADD_ROOM:
        raise CommandFailed(
            str(refusal),
            hint="Start another broker with `penstock serve --join`, or lower the replication factor with "
            "`penstock reassign plan --replication-factor`.",
        )
    if answer.error_code != ErrorCode.NONE:
        raise refusal


def _require_served(cluster: Cluster) -> None:
    if not cluster.any_broker().serves(ApiKey.DECOMMISSION_BROKER):
        raise CommandFailed(
            "This cluster cannot empty a broker by itself: it is no cluster of Penstock brokers, or of older "
            "ones.",
            hint="Move everything off it with `penstock reassign plan --brokers` (naming the others) and "
            "`penstock reassign run`, then stop it.",
        )


def _ask(cluster: Cluster, request: DecommissionBrokerRequest) -> DecommissionBrokerResponse:
    answer: DecommissionBrokerResponse = ask_controller(cluster, ApiKey.DECOMMISSION_BROKER, request)
    return answer


def _look(cluster: Cluster, broker: int) -> Decommission:
    """How far it is; a broker that nobody knows any more is done."""
    answer = _ask(cluster, DecommissionBrokerRequest(broker_id=broker, is_question=True))
    if answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED:
        return Decommission(broker, Outcome.DECOMMISSIONED, 0, is_voter=False)
    _check_possible(answer, broker)
    if not answer.is_draining:
        raise CommandFailed(
            f"Broker {broker} is not being emptied any more: somebody called it off.",
            hint="What has moved stays where it is; see what the broker still holds with "
            f"`penstock broker describe {broker}`.",
        )
    return _draining(broker, answer)


def _unfinished(last: Decommission, when: str) -> CommandFailed:
    voter = " and is still a voter of the quorum" if last.is_voter else ""
    return CommandFailed(
        f"Broker {last.broker} still has {_replicas(last.replicas_left)}{voter} {when}.",
        hint="It goes on by itself; look again with "
        f"`penstock broker decommission {last.broker}`, or stop it with --cancel.",
    )


def _draining(broker: int, answer: DecommissionBrokerResponse) -> Decommission:
    return Decommission(broker, Outcome.DRAINING, answer.replicas_left, answer.is_voter)


def _replicas(count: int) -> str:
    return f"{count} {'replica' if count == 1 else 'replicas'}"
