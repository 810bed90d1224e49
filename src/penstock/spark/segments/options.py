"""The options of ``format("penstock-segments")``: those of files, or those of a batch read from brokers."""

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.spark.options.definition import OptionError
from penstock.spark.options.source_options import SourceOptions, batch_options

PART_BYTES_MAX = 128 * 1024 * 1024
"""Read by one task, unless told otherwise: as much as Spark takes of a file."""

_PATH = "path"
_CONTROL = "includeControlRecords"
_HEADERS = "includeHeaders"
_TOPICS = "subscribe"
_PART_BYTES = "maxBytesPerPartition"
_SERVERS = "kafka.bootstrap.servers"
FILE_OPTIONS = (_PATH, _TOPICS, _HEADERS, _CONTROL, _PART_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """What to read of a data directory."""

    data_directory: str
    topics: frozenset[str]
    """Empty for all but internal ones."""
    part_bytes_max: int
    include_headers: bool
    include_control: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerOptions:
    """What to ask brokers for."""

    source: SourceOptions
    include_control: bool

    @property
    def include_headers(self) -> bool:
        """Whether the column is there if no schema asks for it."""
        return self.source.include_headers


def segments_options(given: Mapping[str, str]) -> FileOptions | BrokerOptions:
    """The options that Spark hands over, with their names in any case."""
    options = {name.lower(): text for name, text in given.items()}
    if (_PATH in options) == (_SERVERS in options):
        raise OptionError(
            f"Stored batches come from a data directory or from brokers: give either {_PATH} or {_SERVERS}."
        )
    include_control = _boolean(options, _CONTROL)
    if _PATH not in options:
        options.pop(_CONTROL.lower(), None)
        return BrokerOptions(source=batch_options(options), include_control=include_control)
    return _file_options(options, include_control=include_control)


def _file_options(options: Mapping[str, str], *, include_control: bool) -> FileOptions:
    known = {name.lower() for name in FILE_OPTIONS}
    for name in options:
        if name not in known:
            raise OptionError(
                f"There is no option {name!r} where files are read, there are {', '.join(FILE_OPTIONS)}."
            )
    named = (name.strip() for name in options.get(_TOPICS, "").split(","))
    return FileOptions(
        data_directory=options[_PATH],
        topics=frozenset(name for name in named if name),
        part_bytes_max=_bytes(options),
        include_headers=_boolean(options, _HEADERS),
        include_control=include_control,
    )


def _boolean(options: Mapping[str, str], name: str) -> bool:
    text = options.get(name.lower(), "false")
    if text.lower() not in ("true", "false"):
        raise OptionError(f"Option {name} is {text!r}. It takes true or false.")
    return text.lower() == "true"


def _bytes(options: Mapping[str, str]) -> int:
    text = options.get(_PART_BYTES.lower(), str(PART_BYTES_MAX))
    if not text.isdecimal() or not int(text):
        raise OptionError(f"Option {_PART_BYTES} is {text!r}. It takes a whole number of bytes, at least 1.")
    return int(text)
