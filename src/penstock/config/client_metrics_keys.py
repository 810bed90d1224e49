"""The settings of one subscription of clients' metrics (KIP-714): Kafka's names, defaults and bounds."""

from penstock.config.client_match import client_match
from penstock.config.definition import ConfigKey, ConfigType, ConfigValue, Scope, Validator
from penstock.config.validators import between

INTERVAL_MS_MIN = 100
INTERVAL_MS_MAX = 3_600_000
INTERVAL_MS_DEFAULT = 300_000

_READ_BY = "penstock.broker.telemetry.subscriptions"


def metric_prefixes() -> Validator:
    """Beginnings of metrics' names; an empty one would stand for all, which is said more clearly."""
    return Validator(
        "a list of beginnings of metrics' names, none of them empty; * stands for all metrics", _are_named
    )


def push_interval() -> Validator:
    """How often clients may be asked to push."""
    return between(INTERVAL_MS_MIN, INTERVAL_MS_MAX)


def _are_named(value: ConfigValue) -> bool:
    return isinstance(value, tuple) and "" not in value


def _key(
    name: str, type: ConfigType, default: ConfigValue, doc: str, *, validator: Validator | None
) -> ConfigKey:
    return ConfigKey(
        name=name,
        type=type,
        default=default,
        doc=doc,
        scope=Scope.CLIENT_METRICS,
        validator=validator,
        dynamic=True,
        read_by=_READ_BY,
    )


CLIENT_METRICS_KEYS: dict[str, ConfigKey] = {
    key.name: key
    for key in (
        _key(
            "interval.ms",
            ConfigType.INT,
            INTERVAL_MS_DEFAULT,
            "How often clients push. Of several subscriptions for a client the shortest counts.",
            validator=push_interval(),
        ),
        _key(
            "match",
            ConfigType.LIST,
            (),
            "Which clients: a list of PARAMETER=REGULAR_EXPRESSION, all of which must match; without it, all "
            "clients. Parameters are client_instance_id, client_id, client_software_name, "
            "client_software_version, client_source_address and client_source_port.",
            validator=client_match(),
        ),
        _key(
            "metrics",
            ConfigType.LIST,
            (),
            "Which metrics: a list of beginnings of their names; * means all of them.",
            validator=metric_prefixes(),
        ),
    )
}
"""Every setting of a subscription by name, in the order of names."""
