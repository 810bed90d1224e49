"""Whether a broker would understand its settings: the file, the environment, and both together."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from penstock.cli.doctor.finding import Finding, ok, problem
from penstock.config.broker_config import BrokerConfig
from penstock.config.broker_keys import BROKER_KEYS
from penstock.config.definition import ConfigError, unknown_key
from penstock.config.files import read_config_file
from penstock.config.sources import environment_settings, load_broker_config

_CHECK = "settings"
_ADVICE = "All settings are in docs/reference/configuration.md, or see `penstock config describe broker 1`."


def check_configuration(
    file: Path | None, environment: Mapping[str, str], flags: Mapping[str, str]
) -> tuple[BrokerConfig, list[Finding]]:
    """The settings, and what is wrong with them; those that cannot be taken are the default ones."""
    findings = [*_unknown_in_file(file), *_unknown_in_environment(environment)]
    if findings:
        return load_broker_config(flags=flags), findings
    try:
        config = load_broker_config(file=file, environment=environment, flags=flags)
    except ConfigError as error:
        return load_broker_config(flags=flags), [problem(_CHECK, str(error), _ADVICE)]
    count = len(environment_settings(environment))
    places = f"{file or 'no file'}, {count} in the environment"
    return config, [ok(_CHECK, f"understood ({places})")]


def _unknown_in_file(file: Path | None) -> Iterator[Finding]:
    if file is None:
        return
    try:
        names = read_config_file(file)
    except ConfigError as error:
        yield problem(_CHECK, str(error), "Mend the file, or name another with --config.")
        return
    yield from _unknown(names, f" in {file}")


def _unknown_in_environment(environment: Mapping[str, str]) -> Iterator[Finding]:
    yield from _unknown(environment_settings(environment), " in the environment")


def _unknown(names: Mapping[str, str], place: str) -> Iterator[Finding]:
    for name in names:
        if name not in BROKER_KEYS:
            yield problem(_CHECK, str(unknown_key(name, BROKER_KEYS, place=place)), _ADVICE)
