"""Many transactions ended at once: each coordinator is told of all of its own before it has to answer.

A batch of a large job consists of hundreds of transactions; ending them one after the other would take a trip
to the coordinator and a flush of its log for each.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire_client.coordinators import Coordinated
from penstock.wire_client.errors import WireClientError
from penstock.wire_client.known_coordinators import KnownCoordinators
from penstock.wire_client.transactions import END_TXN_VERSION_MAX, Transaction, end_code, end_request

UNDER_WAY_MAX = 100
"""Requests to one broker that wait for their answers, so that nobody's buffers fill up."""


def end_codes(
    coordinators: KnownCoordinators, transactions: Sequence[Transaction], *, is_commit: bool
) -> list[int]:
    """What the coordinators say to each, in order; all have been tried even if some were refused."""
    if len(transactions) == 1:
        return [end_code(coordinators, transactions[0], is_commit=is_commit)]
    answered = dict(_first_answers(coordinators, transactions, is_commit=is_commit))
    return [
        ErrorCode.NONE
        if answered.get(transaction) == ErrorCode.NONE
        else end_code(coordinators, transaction, is_commit=is_commit)
        for transaction in transactions
    ]


def _first_answers(
    coordinators: KnownCoordinators, transactions: Sequence[Transaction], *, is_commit: bool
) -> Iterator[tuple[Transaction, int]]:
    """What is heard without asking twice; everything that is missing is asked for again one by one."""
    cluster = coordinators.cluster
    try:
        names = [transaction.transactional_id for transaction in transactions]
        nodes = coordinators.nodes(Coordinated.TRANSACTION, names)
    except WireClientError:
        return
    by_node: dict[int, list[Transaction]] = defaultdict(list)
    for transaction in transactions:
        by_node[nodes[transaction.transactional_id]].append(transaction)
    for node_id, own in by_node.items():
        for start in range(0, len(own), UNDER_WAY_MAX):
            some = own[start : start + UNDER_WAY_MAX]
            try:
                broker = cluster.broker(node_id)
                for transaction in some:
                    request = end_request(transaction, is_commit=is_commit)
                    broker.send(ApiKey.END_TXN, request, at_most=END_TXN_VERSION_MAX)
                for transaction in some:
                    yield transaction, broker.receive().error_code
            except WireClientError:
                break
