"""Options of topics' sources and sinks, by the tables of the data source itself, before Spark starts."""

from collections.abc import Callable, Mapping
from typing import Any

from penstock.spark.options.definition import EVERYWHERE, OptionError, Use
from penstock.spark.options.parsing import OPTIONS, connecting_options, parse_options
from penstock.spark.options.security_settings import security_settings
from penstock.spark.options.source_options import batch_options, stream_options
from penstock.spark.pipelines.model import PENSTOCK, Pipeline, ReadMode
from penstock.spark.pipelines.problems import Place, Problems

_BOOTSTRAP = "kafka.bootstrap.servers"
_SOMEWHERE = {_BOOTSTRAP: "localhost:9092"}
"""Where the brokers are may be said on the command line."""


def options_for(use: Use, topic_options: Mapping[str, str]) -> dict[str, str]:
    """Those of the common options that count in a use: writers know nothing of isolation levels."""
    uses = {option.name.lower(): option.uses for option in OPTIONS}
    return {name: text for name, text in topic_options.items() if use in uses.get(name.lower(), EVERYWHERE)}


def check_common_options(pipeline: Pipeline, problems: Problems) -> None:
    """Names and values of what is common to all sources and sinks."""
    for name, value in pipeline.kafka.items():
        place = pipeline.kafka_places.get(name, Place(pipeline.file))
        _noted(lambda given: parse_options(given, EVERYWHERE), {f"kafka.{name}": value}, place, problems)


def check_source_options(pipeline: Pipeline, problems: Problems) -> None:
    """Names, values, and whether they go together."""
    for source in pipeline.sources.values():
        if source.format != PENSTOCK:
            continue
        is_stream = source.read is ReadMode.STREAM
        use = Use.STREAM_READ if is_stream else Use.BATCH_READ
        if _check_each(source.options, source.option_places, use, source.place, problems):
            given = {**_SOMEWHERE, **options_for(use, pipeline.topic_options), **source.options}
            _noted(stream_options if is_stream else batch_options, given, source.place, problems)


def check_sink_options(pipeline: Pipeline, problems: Problems) -> None:
    """Names and values, and whether those of security go together."""
    for sink in (each for each in pipeline.sinks.values() if each.format == PENSTOCK):
        if _check_each(sink.options, sink.option_places, Use.STREAM_WRITE, sink.place, problems):
            given = connecting_options({**pipeline.topic_options, **sink.options})
            _noted(_check_security, given, sink.place, problems)


def _check_each(
    options: Mapping[str, str], places: Mapping[str, Place], use: Use, place: Place, problems: Problems
) -> bool:
    """Whether every option alone is right."""
    before = len(problems)
    for name, value in options.items():
        _noted(lambda given: parse_options(given, {use}), {name: value}, places.get(name, place), problems)
    return len(problems) == before


def _check_security(given: Mapping[str, str]) -> object:
    return security_settings(parse_options(given, EVERYWHERE))


def _noted(
    check: Callable[[Mapping[str, str]], Any], given: Mapping[str, str], place: Place, problems: Problems
) -> None:
    try:
        check(given)
    except OptionError as error:
        problems.add(place, str(error))
