"""How a cluster is reached, out of a file as Kafka's own tools take it for ``--command-config``.

Names in it are Kafka's own; the data source has the same with ``kafka.`` in front, and its tables say what
they take. Messages name file and setting as they stand there, and no value that is secret.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from penstock.config.files import read_properties_file
from penstock.model.errors import UsageError
from penstock.spark.mirror.access import SERVERS, Access
from penstock.spark.options.definition import KAFKA_PREFIX, OptionError
from penstock.spark.options.parsing import OPTIONS

_NAME = re.compile(rf"(?<![\w./-]){re.escape(KAFKA_PREFIX)}[a-z.]+(?![\w/-])")
_FAMILIES = ("kafka.ssl", "kafka.sasl")


def access_to(bootstrap_servers: str, file: Path | None, *, option: str) -> Access:
    """The way to a cluster that ``option`` names, in plain if there is no file."""
    if file is None:
        return Access(bootstrap_servers=bootstrap_servers)
    settings = read_properties_file(file)
    options = {KAFKA_PREFIX + name: value for name, value in settings.items()}
    if options.pop(SERVERS, bootstrap_servers) != bootstrap_servers:
        raise UsageError(f"{file}: bootstrap.servers names other brokers than {option}: leave it out.")
    return _access(bootstrap_servers, options, file)


def _access(bootstrap_servers: str, options: Mapping[str, str], file: Path) -> Access:
    try:
        return Access(bootstrap_servers=bootstrap_servers, options=options)
    except OptionError as error:
        raise UsageError(f"{file}: {_in_words_of_files(str(error), options)}") from error


def _in_words_of_files(message: str, given: Iterable[str]) -> str:
    """With the names of settings as the file has them; anything else that begins like one stays as it is."""
    names = {*(option.name for option in OPTIONS), *given, *_FAMILIES}

    def shortened(match: re.Match[str]) -> str:
        found = match[0]
        return found.removeprefix(KAFKA_PREFIX) if found.rstrip(".") in names else found

    return _NAME.sub(shortened, message)
