"""From file, environment and flags to one ``BrokerConfig``.

Flags win over the environment, the environment over the file, the file over the defaults.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from penstock.config.broker_config import BrokerConfig, Given, build_broker_config
from penstock.config.broker_keys import BROKER_KEYS
from penstock.config.definition import ConfigError, ConfigKey
from penstock.config.files import is_readable_by_all, read_config_file
from penstock.config.names import normalise, unique

ENVIRONMENT_PREFIX = "PENSTOCK_"

_NOT_SETTINGS = frozenset(
    {
        *("FAILPOINTS", "CONFIG", "BOOTSTRAP_SERVER", "CACHE_DIR", "SPARK_ARCHIVE", "SPARK_TRAINING_OPTIONS"),
        *("GATEWAY", "GATEWAY_TOKEN", "REGISTRY_URL"),
    }
)
"""Variables of the same prefix that somebody else reads."""

_KUBERNETES_SERVICE = re.compile(r"(SERVICE_(HOST|PORT)|PORT)(_|$)")
"""Kubernetes puts ``PENSTOCK_PORT_9092_TCP`` and the like beside every service called penstock."""


def load_broker_config(
    *,
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
    flags_origin: str = "on the command line",
    keys: Mapping[str, ConfigKey] | None = None,
) -> BrokerConfig:
    """The broker's settings; ``ConfigError`` names the key, the value, where it stands and what is valid."""
    keys = BROKER_KEYS if keys is None else keys
    given = [
        Given(values=_normalised(flags or {}), origin=flags_origin),
        Given(values=environment_settings(environment or {}), origin="in the environment"),
    ]
    if file is not None:
        values = read_config_file(file)
        _refuse_exposed_secrets(file, values, keys)
        given.append(Given(values=values, origin=f"in {file}"))
    return build_broker_config(*given, keys=keys)


def environment_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings among environment variables: ``PENSTOCK_LOG_RETENTION_MS`` sets ``log.retention.ms``."""
    names = (name.removeprefix(ENVIRONMENT_PREFIX) for name in sorted(environment) if _is_ours(name))
    return {normalise(name): environment[ENVIRONMENT_PREFIX + name] for name in names}


def _is_ours(name: str) -> bool:
    if not name.startswith(ENVIRONMENT_PREFIX):
        return False
    rest = name.removeprefix(ENVIRONMENT_PREFIX)
    return rest not in _NOT_SETTINGS and not _KUBERNETES_SERVICE.match(rest)


def _normalised(flags: Mapping[str, str]) -> dict[str, str]:
    return unique((normalise(name), text) for name, text in flags.items())


def _refuse_exposed_secrets(file: Path, values: Mapping[str, str], keys: Mapping[str, ConfigKey]) -> None:
    secrets = [name for name in values if name in keys and keys[name].is_sensitive]
    if secrets and is_readable_by_all(file):
        raise ConfigError(
            f"{file} holds {secrets[0]} and every user of this machine can read it: run chmod 600 {file}."
        )
