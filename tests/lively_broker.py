"""A broker's settings with which nobody waits long for what has died.

Every one is Kafka's own, and Apache Kafka wants them all; Penstock has no need for some of them.
"""

from penstock.config.broker_keys import BROKER_KEYS

_WANTED = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 500,
    "group.consumer.min.session.timeout.ms": 500,
    "group.consumer.session.timeout.ms": 3000,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 200,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 200,
    "auto.create.topics.enable": False,
}
LIVELY = {key: value for key, value in _WANTED.items() if key in BROKER_KEYS}
