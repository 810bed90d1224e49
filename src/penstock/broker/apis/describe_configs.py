"""DescribeConfigs (key 32): settings, their values, and where those come from.

Versions 1 to 4.

Behaviour
    - Resources are topics by name, this broker by its id, by the empty name what is set for all brokers, and
      subscriptions of clients' metrics by name.
    - No keys, or an empty list, means all settings; unknown keys are left out.
    - A value's source is the topic, this broker, all brokers, the broker's start, or the built-in default;
      synonyms list all of them that have a value, the one in force first. Secrets have no value here.
    - Refusals: UNKNOWN_TOPIC_OR_PARTITION; INVALID_TOPIC_EXCEPTION; INVALID_REQUEST for another broker's id
      or another kind of resource.

Version notes
    1 sources and synonyms (KIP-226); 3 types and documentation (KIP-569); 4 flexible.
"""

from typing import TYPE_CHECKING

from penstock.metadata.describe_configs import describe_configs
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: DescribeConfigsRequest, header: RequestHeader
) -> DescribeConfigsResponse:
    """Describe the settings in force."""
    return describe_configs(broker.image, request, config=broker.config)
