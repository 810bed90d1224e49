"""What one subscription of clients' metrics lives by: what was set on it, over the defaults."""

from collections.abc import Mapping

from penstock.config.client_metrics_keys import CLIENT_METRICS_KEYS
from penstock.config.settings import ConfigSource, Setting, Settings, default_setting


def client_metrics_config(overrides: Mapping[str, str]) -> Settings:
    """The settings of a subscription; names that this version does not know are left out."""
    stacks: dict[str, tuple[Setting, ...]] = {}
    for name, key in CLIENT_METRICS_KEYS.items():
        stacks[name] = (default_setting(key),)
        if name in overrides:
            text = overrides[name]
            source = ConfigSource.DYNAMIC_CLIENT_METRICS
            given = Setting(name=name, text=text, value=key.parse(text), source=source)
            stacks[name] = (given, *stacks[name])
    return Settings(CLIENT_METRICS_KEYS, stacks)
