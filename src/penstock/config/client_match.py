"""Which clients a subscription of metrics is for: ``client_id=orders-.*``, as Kafka writes it (KIP-714)."""

from collections.abc import Iterable, Mapping

from penstock.config.definition import ConfigError, ConfigValue, Validator
from penstock.model.errors import ApiError
from penstock.model.patterns import Matcher, compile_pattern

MATCH_PARAMETERS = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)
"""What is known of every client."""


def parse_match(items: Iterable[str]) -> dict[str, Matcher]:
    """The matcher of each parameter; a client must satisfy all of them. ``ConfigError`` for what is none."""
    matchers: dict[str, Matcher] = {}
    for item in items:
        parameter, separator, pattern = item.partition("=")
        parameter = parameter.strip()
        if not separator or parameter not in MATCH_PARAMETERS:
            raise ConfigError(
                f"Illegal client matching pattern {item}: must be PARAMETER=REGULAR_EXPRESSION, where the "
                f"parameter is one of {', '.join(MATCH_PARAMETERS)}."
            )
        if parameter in matchers:
            raise ConfigError(f"Illegal client matching pattern {item}: {parameter} is given twice.")
        try:
            matchers[parameter] = compile_pattern(pattern.strip())
        except ApiError as error:
            raise ConfigError(f"Illegal client matching pattern {item}. {error.message}") from error
    return matchers


def is_match(matchers: Mapping[str, Matcher], facts: Mapping[str, str]) -> bool:
    """Whether a client of which ``facts`` are known is meant; one is, if nothing is asked."""
    return all(matches(facts[parameter]) for parameter, matches in matchers.items())


def client_match() -> Validator:
    """The rule of the setting."""
    return Validator("a list of PARAMETER=REGULAR_EXPRESSION", _accepts)


def _accepts(value: ConfigValue) -> bool:
    assert isinstance(value, tuple)
    parse_match(value)  # which says what is wrong better than a rule can
    return True
