"""Questions for the controller: what changes the cluster as a whole.

Brokers of today pass such requests on, so that any of them could be asked; older ones refuse, and say so with
NOT_CONTROLLER. So the broker that the metadata name is asked, again when it has just lost the office or is
gone. Everything asked here may be asked twice: an answer that got lost does no harm.
"""

from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.schema import Struct
from penstock.wire_client.cluster import PASSING, Cluster, attempts
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import BrokenConnectionError, UnreachableError, WireClientError

_PASSING = PASSING | {ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT}


def ask_controller(cluster: Cluster, api: ApiKey, message: Struct) -> Any:
    """The answer, with an error code that is no passing one, unless it still was when patience ended."""
    answer: Any = None
    problem: WireClientError | None = None
    for _ in attempts():
        try:
            answer = _controller(cluster).call(api, message)
        except (BrokenConnectionError, UnreachableError) as error:
            answer, problem = None, error
        else:
            if answer.error_code not in _PASSING:
                return answer
    if answer is None and problem is not None:
        raise problem
    return answer


def _controller(cluster: Cluster) -> Connection:
    """Whoever decides at present; any broker where nobody is named, as while one is being elected."""
    controller_id = cluster.metadata(()).controller_id
    return cluster.broker(controller_id) if controller_id in cluster.nodes else cluster.any_broker()
