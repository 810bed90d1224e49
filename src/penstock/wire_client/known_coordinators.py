"""Coordinators that are remembered, for whoever asks the same ones again and again.

``ask`` waits out what passes by itself: a coordinator that moves is looked up anew, one that still reads its
log or completes a transaction is asked again, and so is one whose connection broke. Everything that is asked
here does no harm when it is carried out twice.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.schema import Struct
from penstock.wire_client.cluster import PASSING, Cluster
from penstock.wire_client.coordinators import Coordinated, find_coordinators
from penstock.wire_client.errors import RefusedError, UnreachableError
from penstock.wire_client.patience import Patience, ask_again

_PASSING = PASSING | {
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.KAFKA_STORAGE_ERROR,
}

_STAYS = frozenset({ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.UNSTABLE_OFFSET_COMMIT})
"""Codes that only the right coordinator gives."""


class CoordinatorKey(NamedTuple):
    """What is coordinated, by its name."""

    kind: Coordinated
    name: str


class Question(NamedTuple):
    """What to ask, and where in an answer its error codes are."""

    api: ApiKey
    message: Struct
    version_max: int
    codes: Callable[[Any], list[int]] = lambda answer: [answer.error_code]
    also_passing: frozenset[int] = frozenset()
    """Codes that pass by themselves in answers to this very question."""


class KnownCoordinators:
    """The coordinators of one cluster, as far as they were asked something."""

    def __init__(self, cluster: Cluster, patience: Patience | None = None) -> None:
        self.cluster = cluster
        self.patience = patience or Patience()
        self._nodes: dict[CoordinatorKey, int] = {}

    def ask(self, key: CoordinatorKey, question: Question, *, patience: Patience | None = None) -> Any:
        """The answer; its codes are no passing ones, unless they still were when patience ended."""

        def ask() -> Any:
            broker = self.cluster.broker(self._node(key))
            answer = broker.call(question.api, question.message, at_most=question.version_max)
            if any(code in _PASSING - _STAYS for code in question.codes(answer)):
                self._nodes.pop(key, None)
            return answer

        passing = _PASSING | question.also_passing
        return ask_again(
            ask,
            is_passing=lambda answer: any(code in passing for code in question.codes(answer)),
            patience=patience or self.patience,
            after_trouble=lambda: self._forget_lost(key),
        )

    def nodes(self, kind: Coordinated, names: Iterable[str]) -> dict[str, int]:
        """The brokers that look after all of these, as far as that is still true."""
        keys = {name: CoordinatorKey(kind, name) for name in names}
        missing = [name for name, key in keys.items() if key not in self._nodes]
        if missing:
            try:
                found = find_coordinators(self.cluster, kind, missing)
            except RefusedError as error:
                if error.code in PASSING:
                    raise UnreachableError(str(error)) from error
                raise
            self._nodes |= {keys[name]: node_id for name, node_id in found.items()}
        return {name: self._nodes[key] for name, key in keys.items()}

    def forget(self, kind: Coordinated, names: Iterable[str]) -> None:
        """Look for the coordinators of these anew when they are next asked for."""
        for name in names:
            self._nodes.pop(CoordinatorKey(kind, name), None)

    def _node(self, key: CoordinatorKey) -> int:
        return self.nodes(key.kind, [key.name])[key.name]

    def _forget_lost(self, key: CoordinatorKey) -> None:
        """After a broken connection the next may be needed to somebody else."""
        node_id = self._nodes.get(key)
        if node_id is not None and not self.cluster.is_connected(node_id):
            del self._nodes[key]
