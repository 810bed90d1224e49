"""The settings of clients' metrics (KIP-714) that belong to brokers.

Nothing is asked of clients by default. Who closes a client that was asked waits for its last push, and what
clients tell of themselves is somebody's to want; so somebody has to say so, here or in a subscription.
"""

from penstock.config.broker_key import broker_key
from penstock.config.client_metrics_keys import metric_prefixes, push_interval
from penstock.config.definition import ConfigType
from penstock.config.validators import between

_SUBSCRIPTIONS = "penstock.broker.telemetry.subscriptions"


TELEMETRY_KEYS = (
    broker_key(
        "telemetry.default.metrics",
        ConfigType.LIST,
        (),
        "Metrics that all clients are asked to push, besides what subscriptions ask of them: a list of "
        "beginnings of names; * means all. Without it only subscriptions ask. The same on all brokers.",
        validator=metric_prefixes(),
        dynamic=True,
        read_by=_SUBSCRIPTIONS,
    ),
    broker_key(
        "telemetry.default.interval.ms",
        ConfigType.INT,
        60_000,
        "How often clients push because of telemetry.default.metrics. The same on all brokers.",
        validator=push_interval(),
        dynamic=True,
        read_by=_SUBSCRIPTIONS,
    ),
    broker_key(
        "telemetry.max.bytes",
        ConfigType.INT,
        1024 * 1024,
        "The largest push of metrics that is taken, as it comes, compressed or not.",
        validator=between(1, 16 * 1024 * 1024),
        dynamic=True,
        read_by="penstock.broker.telemetry.telemetry",
    ),
)
