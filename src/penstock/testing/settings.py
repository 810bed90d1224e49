"""How brokers under test are set up, where nobody says otherwise: small, and quick to notice.

Tests may override each of them.
"""

from collections.abc import Mapping

from penstock.config.broker_config import BrokerConfig
from penstock.config.sources import load_broker_config

DEFAULTS: Mapping[str, object] = {
    # One member is a group at once, and tests may ask for short sessions.
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 100,
    # Internal topics are made when they are first needed: few partitions, no waiting.
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.num.partitions": 4,
    # Every fetch names its topics, so that faults can be aimed at one and requests show them.
    "max.incremental.fetch.session.cache.slots": 0,
    # What a broker has to say is kept for its test, and topics are those that the test makes.
    "server.log.file.enable": False,
    "server.log.topic.enable": False,
}


def as_texts(*layers: Mapping[str, object]) -> dict[str, str]:
    """Settings as a configuration file has them; later layers win."""
    merged: dict[str, object] = {}
    for layer in layers:
        merged |= layer
    return {name: _as_text(value) for name, value in merged.items()}


def config_of(settings: Mapping[str, str]) -> BrokerConfig:
    """What settings come to; ``ConfigError`` names the one that makes no sense, and where it stands."""
    return load_broker_config(flags=settings, flags_origin="in the broker's settings")


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
