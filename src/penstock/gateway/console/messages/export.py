"""Messages as files: JSON lines that lose nothing, or CSV for spreadsheets.

Oldest first, partition after partition within each piece that is read. In JSON lines a value that is JSON
stands as it was written, text as text, everything else as base64. In CSV a text that a spreadsheet would take
for a formula begins with an apostrophe: messages come from anybody.
"""

import base64
import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from penstock.gateway.console.filters.candidate import MISSING, Candidate, is_framed, parsed
from penstock.gateway.console.filters.terms import Wanted
from penstock.gateway.console.messages.documents import documents
from penstock.gateway.console.messages.payloads import document_text, text_of
from penstock.gateway.console.messages.reading import Located, Reading
from penstock.gateway.payloads.decoded import Decoder, UndecodableError
from penstock.wire_client.errors import UnreachableError

EXPORT_MAX = 1_000_000
CSV_COLUMNS = ("partition", "offset", "timestamp", "key", "value", "headers")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Line = Callable[[Located, Decoder], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Messages of a reading, those that are wanted, up to a limit."""

    reading: Reading
    wanted: Wanted | None
    decode: Decoder
    limit: int

    def json_lines(self) -> Iterator[bytes]:
        """One object per line."""
        yield from self._pieces(json_line)

    def csv(self) -> Iterator[bytes]:
        """A line of names, then one per message."""
        yield _csv_line(CSV_COLUMNS).encode()
        yield from self._pieces(csv_line)

    def _pieces(self, line: Line) -> Iterator[bytes]:
        left, document = self.limit, documents(self.decode)
        for answer in self.reading.answers():
            chosen = [
                each
                for each in answer.found
                if self.wanted is None or self.wanted(Candidate(*each, document))
            ][:left]
            left -= len(chosen)
            yield "".join(line(each, self.decode) for each in chosen).encode("utf-8", "replace")
            if left <= 0:
                return
        if self.reading.abandoned:
            # A file that ends here would look whole.
            numbers = ", ".join(map(str, self.reading.abandoned))
            raise UnreachableError(f"No leader answers for partition {numbers} of {self.reading.topic!r}.")


def json_line(located: Located, decode: Decoder) -> str:
    """A message as one line of JSON."""
    partition, record = located
    fields = {
        "partition": str(partition),
        "offset": str(record.offset),
        "timestamp": str(record.timestamp),
        "key": _json_payload(record.key, decode),
        "value": _json_payload(record.value, decode),
        "headers": json.dumps(
            [[name, None if value is None else _plain(value)] for name, value in record.headers],
            ensure_ascii=False,
        ),
    }
    return "{" + ", ".join(f'"{name}": {text}' for name, text in fields.items()) + "}\n"


def csv_line(located: Located, decode: Decoder) -> str:
    """A message as one line of CSV."""
    partition, record = located
    moment = datetime.fromtimestamp(max(0, record.timestamp) / 1000, UTC)
    headers = {name: None if value is None else _plain(value) for name, value in record.headers}
    return _csv_line(
        (
            str(partition),
            str(record.offset),
            moment.isoformat(timespec="milliseconds"),
            _cell(_csv_payload(record.key, decode)),
            _cell(_csv_payload(record.value, decode)),
            json.dumps(headers, ensure_ascii=False) if headers else "",
        )
    )


def _json_payload(payload: bytes | None, decode: Decoder) -> str:
    if payload is None:
        return "null"
    decoded = _decoded_text(payload, decode)
    if decoded is not None:
        return decoded
    if (text := text_of(payload)) is not None:
        # Line breaks in JSON stand only between its parts; in its texts they are escaped.
        is_document = text.lstrip()[:1] in ("{", "[") and parsed(payload) is not MISSING
        return (
            text.replace("\n", " ").replace("\r", " ")
            if is_document
            else json.dumps(text, ensure_ascii=False)
        )
    return json.dumps({"base64": base64.b64encode(payload).decode()})


def _csv_payload(payload: bytes | None, decode: Decoder) -> str:
    if payload is None:
        return ""
    decoded = _decoded_text(payload, decode)
    return _plain(payload) if decoded is None else decoded


def _decoded_text(payload: bytes, decode: Decoder) -> str | None:
    if not payload or not is_framed(payload):
        return None
    try:
        return document_text(decode(payload))
    except UndecodableError:
        return None  # The bytes are exported as they are.


def _plain(payload: bytes) -> str:
    text = text_of(payload)
    return f"base64:{base64.b64encode(payload).decode()}" if text is None else text


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _csv_line(cells: tuple[str, ...]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()
