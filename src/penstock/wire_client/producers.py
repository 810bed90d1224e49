"""Who produces: an id and an epoch, by which brokers tell a repetition from something new."""

from typing import NamedTuple

from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire_client.cluster import PASSING, Cluster
from penstock.wire_client.errors import check
from penstock.wire_client.patience import Patience, ask_again

INIT_PRODUCER_ID_VERSION_MAX = 4
"""The first transaction protocol."""

_NO_TIMEOUT_MS = 60_000
"""Of transactions that such a producer never opens; brokers want a number."""


class ProducerIdentity(NamedTuple):
    """What a producer writes under."""

    producer_id: int
    producer_epoch: int


def new_producer(cluster: Cluster, patience: Patience | None = None) -> ProducerIdentity:
    """The identity of a producer that nobody knows yet, for writes outside of transactions."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=_NO_TIMEOUT_MS)
    answer = ask_again(
        lambda: cluster.any_broker().call(
            ApiKey.INIT_PRODUCER_ID, request, at_most=INIT_PRODUCER_ID_VERSION_MAX
        ),
        is_passing=lambda answer: answer.error_code in PASSING,
        patience=patience or Patience(),
    )
    check(answer.error_code, doing="get a producer id")
    return ProducerIdentity(answer.producer_id, answer.producer_epoch)
