"""Topics of which the broker that is asked has not heard yet, though another one made them."""

from collections.abc import Iterator

import pytest
from tests.conftest import UniqueName

from penstock.gateway.errors import GatewayError
from penstock.gateway.kafka import known_topics
from penstock.gateway.kafka.access import KafkaAccess
from penstock.gateway.settings import GatewaySettings
from penstock.testing import Broker
from penstock.wire_client.patience import Patience

UNHEARD_OF = "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.fixture
def kafka(penstock_broker: Broker) -> Iterator[KafkaAccess]:
    made = KafkaAccess(GatewaySettings(bootstrap_servers=penstock_broker.bootstrap_servers))
    try:
        yield made
    finally:
        made.close()


def test_topic_that_was_just_made_is_waited_for(
    penstock_broker: Broker, kafka: KafkaAccess, unique: UniqueName
) -> None:
    topic = unique("made")
    penstock_broker.create_topic(topic, partitions=3)
    with penstock_broker.faults.fail("Metadata", error=UNHEARD_OF, times=3, topic=topic) as fault:
        kafka.topics.wait_known(topic)
        assert fault.hits == 3
    assert kafka.topics.partitions(topic) == range(3)


def test_topic_that_nobody_hears_of_is_not_waited_for_long(
    kafka: KafkaAccess, unique: UniqueName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_topics, "HEARSAY", Patience(seconds_max=0.05))
    topic = unique("absent")
    kafka.topics.wait_known(topic)
    with pytest.raises(GatewayError, match="There is no topic"):
        kafka.topics.partitions(topic)
