"""DescribeQuorum (key 55): who decides on metadata, and how far everybody has followed (KIP-595).

Versions 0 to 2.

Behaviour
    - The leader of the quorum answers, whoever is asked: only it knows how far the others are.
    - There is one partition to ask for, 0 of ``__cluster_metadata``; any other is
      UNKNOWN_TOPIC_OR_PARTITION.
    - NOT_CONTROLLER while there is no leader.

Version notes
    1 times of the last fetch and of being caught up (KIP-836); 2 directories and addresses (KIP-853).
"""

from typing import TYPE_CHECKING

from penstock.metadata.describe_quorum import describe_quorum
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: DescribeQuorumRequest, header: RequestHeader
) -> DescribeQuorumResponse:
    """Have the leader describe the quorum."""

    async def answer() -> DescribeQuorumResponse:
        return describe_quorum(broker.image, request, broker.quorum.facts())

    try:
        return await broker.control.answer_or_forward(request, header, answer)
    except ApiError as error:
        return DescribeQuorumResponse(error_code=error.code, error_message=error.message)
