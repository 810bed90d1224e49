"""How records that were found appear: whole on a terminal, a line each elsewhere, or as JSON."""

import sys
from typing import TYPE_CHECKING, Any

from penstock.cli.consume.pretty_json import new_painter, pretty_json
from penstock.cli.consume.record_format import text_or_base64
from penstock.cli.instants import format_instant
from penstock.cli.output import print_json_line, print_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

VALUE_CHARACTERS_MAX = 2_000
"""Of one value on a terminal; --json and --output have all of it."""


def print_records(found: "DataFrame", *, as_json: bool) -> None:
    """Whole records, as rows of ``as_messages``."""
    is_terminal = sys.stdout.isatty()
    paint = new_painter()
    for row in found.toLocalIterator(prefetchPartitions=True):
        if as_json:
            print_json_line(json_record(row))
        elif is_terminal:
            print(f"{_heading(json_record(row))}\n{paint(_shown(_bytes(row['value'])))}\n")
        else:
            print(_line(json_record(row)))


def print_values(found: "DataFrame", columns: tuple[str, ...], *, as_json: bool) -> None:
    """Chosen columns: a table, or a line of JSON for each record."""
    rows = (row.asDict(recursive=True) for row in found.toLocalIterator(prefetchPartitions=True))
    if as_json:
        for row in rows:
            print_json_line({name: plain(value) for name, value in row.items()})
    else:
        cells = [["" if row[name] is None else plain(row[name]) for name in columns] for row in rows]
        print_table([name.upper() for name in columns], cells)


def json_record(row: "Row") -> dict[str, Any]:
    """A record as ``penstock consume --json`` writes it."""
    return {
        "topic": row["topic"],
        "partition": row["partition"],
        "offset": row["offset"],
        "timestamp": row["timestamp_ms"],
        **text_or_base64("key", _bytes(row["key"])),
        **text_or_base64("value", _bytes(row["value"])),
        "headers": [
            {"name": header["key"], **text_or_base64("value", _bytes(header["value"]))}
            for header in row["headers"] or ()
        ],
    }


def plain(value: object) -> Any:
    """A value of Spark as JSON and tables can hold it."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes() | bytearray():
            return next(iter(text_or_base64("value", bytes(value)).values()))
        case dict():
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
    return str(value)


def _heading(record: dict[str, Any]) -> str:
    key = record.get("key", record.get("key_base64"))
    headers = " ".join(f"{each['name']}={next(iter(list(each.values())[1:]))}" for each in record["headers"])
    return "  ".join((_place(record), format_instant(record["timestamp"]), f"key={key}", headers)).rstrip()


def _line(record: dict[str, Any]) -> str:
    value = record.get("value", record.get("value_base64"))
    key = record.get("key", record.get("key_base64"))
    return "\t".join((_place(record), format_instant(record["timestamp"]), _flat(key), _flat(value)))


def _place(record: dict[str, Any]) -> str:
    return f"{record['topic']}-{record['partition']}@{record['offset']}"


def _flat(text: str | None) -> str:
    return "" if text is None else text.replace("\t", "\\t").replace("\r", "\\r").replace("\n", "\\n")


def _shown(value: bytes | None) -> str:
    if value is None:
        return "(no value)"
    text = pretty_json(value) or str(next(iter(text_or_base64("value", value).values())))
    if len(text) <= VALUE_CHARACTERS_MAX:
        return text
    return f"{text[:VALUE_CHARACTERS_MAX]}… ({len(value):,} bytes in all)"


def _bytes(value: bytearray | bytes | None) -> bytes | None:
    return None if value is None else bytes(value)
