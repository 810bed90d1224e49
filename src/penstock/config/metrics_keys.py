"""The settings of the broker's small HTTP port, for metrics and health."""

from penstock.config.broker_key import broker_key
from penstock.config.definition import ConfigError, ConfigType, ConfigValue, Validator
from penstock.config.listeners import parse_listener

AUTOMATIC = "auto"
OFF = "off"
WORDS = (AUTOMATIC, OFF)


def _accepts(value: ConfigValue) -> bool:
    if not isinstance(value, str):
        return False
    if value in WORDS:
        return True
    if "://" in value:
        return False
    try:
        parse_listener(value)
    except ConfigError:
        return False
    return True


METRICS_KEYS = (
    broker_key(
        "metrics.listener",
        ConfigType.STRING,
        AUTOMATIC,
        "Where GET /metrics and /health are answered, in plain HTTP to whoever can connect: HOST:PORT, or "
        "off. With auto that is 127.0.0.1, on the port of listeners plus 10000 if that can be had, otherwise "
        "on any free one; the log says which.",
        validator=Validator("auto, off, or an address like 127.0.0.1:19092", _accepts),
        read_by="penstock.broker.metrics.service",
    ),
)
