"""Checks of what was given against the tables: names, places and values, with what to write instead.

Spark hands options over with their names in lower case; here they get back the case of the tables.
"""

import difflib
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.spark.options.definition import EVERYWHERE, KAFKA_PREFIX, Effect, Option, OptionError, Use
from penstock.spark.options.kafka_table import KAFKA_OPTIONS
from penstock.spark.options.reading_table import READING_OPTIONS
from penstock.spark.options.security_table import REFUSED_PREFIXES, SECURITY_OPTIONS
from penstock.spark.options.writing_table import WRITING_OPTIONS

OPTIONS = (*READING_OPTIONS, *WRITING_OPTIONS, *KAFKA_OPTIONS, *SECURITY_OPTIONS)
"""All of them: the single truth of names, values and meaning."""

_BY_LOWER_NAME = {option.name.lower(): option for option in OPTIONS}
_PATH = "path"
_STREAM_READ_ONLY = frozenset({Use.STREAM_READ})

_log = logging.getLogger(__name__)


def parse_options(given: Mapping[str, str], uses: Iterable[Use]) -> dict[str, Any]:
    """The values of all options that were given or have a default, by their names.

    ``uses`` is what the DataFrame may be made for, as far as that is known: an option must count in one of
    them. Those of streams alone are ignored by a batch, as Spark's Kafka connector does.
    """
    possible = frozenset(uses)
    values: dict[str, Any] = {}
    for name, text in given.items():
        option = _known(name, possible)
        if _counts(option, possible):
            values[option.name] = _parse(option, text)
    return _defaults(possible) | values


def connecting_options(given: Mapping[str, str]) -> dict[str, str]:
    """Those of the options that say how to reach a cluster, which readers and writers share."""
    names = {option.name.lower() for option in OPTIONS if option.uses == EVERYWHERE}
    return {name: text for name, text in given.items() if name.lower() in names}


def _defaults(uses: frozenset[Use]) -> dict[str, Any]:
    return {
        option.name: option.kind.parse(option.default)
        for option in OPTIONS
        if option.default is not None and option.uses & uses
    }


def _known(name: str, uses: frozenset[Use]) -> Option:
    lowered = name.lower()
    option = _BY_LOWER_NAME.get(lowered)
    if option is None:
        raise OptionError(_unknown(lowered, uses))
    if option.effect is Effect.REFUSED:
        raise OptionError(f"Option {option.name} cannot be used. {option.meaning}")
    return option


def _unknown(name: str, uses: frozenset[Use]) -> str:
    for prefix, reason in REFUSED_PREFIXES.items():
        if name.startswith(prefix):
            return f"Option {name} cannot be used. {reason}"
    sentence = f"There is no option {name!r}."
    if name == _PATH:
        return f"{sentence} Spark makes it of what load() or save() is given: name topics by options instead."
    if f"{KAFKA_PREFIX}{name}" in _BY_LOWER_NAME:
        return f"{sentence} Kafka's own properties begin with kafka.: write {KAFKA_PREFIX}{name}."
    fitting = [lower for lower, option in _BY_LOWER_NAME.items() if option.uses & uses]
    nearest = difflib.get_close_matches(name, fitting, n=1)
    return f"{sentence} Did you mean {_BY_LOWER_NAME[nearest[0]].name}?" if nearest else sentence


def _counts(option: Option, uses: frozenset[Use]) -> bool:
    if option.uses & uses:
        if option.effect is Effect.IGNORED:
            _log.info("Option %s has no effect.", option.name)
        return option.effect is Effect.ACTS
    if uses == {Use.BATCH_READ} and option.uses == _STREAM_READ_ONLY:
        _log.warning("Option %s has no effect in a batch: it is one of streams.", option.name)
        return False
    places = " and ".join(sorted(option.uses))
    raise OptionError(
        f"Option {option.name} is one of {places}, not of {' or '.join(sorted(uses))}: leave it out."
    )


def _parse(option: Option, text: str) -> Any:
    try:
        return option.kind.parse(text)
    except ValueError as error:
        if option.is_secret:
            raise OptionError(
                f"Option {option.name} cannot be read as it is. It takes {option.kind.expected}."
            ) from None
        detail = f": {error}" if str(error) != text else ""
        raise OptionError(
            f"Option {option.name} is {text!r}{detail}. It takes {option.kind.expected}."
        ) from error
