"""Entries on their way to a person or a program."""

import json
import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from penstock.cli.consume.interrupt import Interrupt
from penstock.cli.failure import CommandFailed
from penstock.cli.librdkafka import ask, require_reachable
from penstock.cli.output import check_for_reader, until_reader_leaves
from penstock.client.logs.entry import FoundEntry
from penstock.client.logs.files import search_files
from penstock.client.logs.newest import Newest
from penstock.client.logs.query import LogFilter, LogQuery, shown
from penstock.client.logs.topic import LogTopic, NoLogTopicError

_COLOURS = {"debug": "2", "info": "32", "warning": "33", "error": "31", "critical": "1;31"}
_DIM, _BOLD = "2", "1"
_COMPONENT_PARENT = "broker."


class Showing:
    """Writes entries to standard output: JSON lines, or lines in columns that are coloured on a terminal."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def show(self, entries: Iterable[FoundEntry]) -> None:
        """Print them, and let whoever reads a pipe have them at once."""
        for entry in entries:
            print(json.dumps(entry.document()) if self._as_json else self._line(entry))
        sys.stdout.flush()

    def remark(self, sentence: str) -> None:
        """Tell the person, not the program."""
        print(sentence, file=sys.stderr)

    def _line(self, entry: FoundEntry) -> str:
        instant = datetime.fromtimestamp(entry.time_ms / 1000, UTC)
        time = f"{instant:%Y-%m-%d %H:%M:%S}.{entry.time_ms % 1000:03}"
        fields = "  ".join(
            f"{self._paint(_DIM, f'{_plain(name)}=')}{_plain(shown(value))}"
            for name, value in entry.fields.items()
        )
        columns = (
            self._paint(_DIM, time),
            self._paint(_COLOURS.get(entry.level, _BOLD), f"{_plain(entry.level):<8}"),
            f"{'-' if entry.node is None else entry.node:>3}",
            f"{_plain(entry.component.removeprefix(_COMPONENT_PARENT)):<24}",
            self._paint(_BOLD, _plain(entry.event)),
            fields,
        )
        return "  ".join(columns).rstrip()

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._is_coloured else text


@until_reader_leaves()
def show_files(directory: Path, query: LogQuery, showing: Showing) -> None:
    """What log files have to say."""
    _show_found(search_files(directory, query), query, showing)


@until_reader_leaves()
def show_topic(bootstrap_server: str, query: LogQuery, showing: Showing, *, follows: bool) -> None:
    """What the cluster's log topic has to say, and from then on, if wanted, what comes."""
    LogFilter(query)  # what makes no sense is told before anybody is asked
    require_reachable(bootstrap_server)
    with LogTopic(bootstrap_server, client_id="penstock-cli") as topic:
        try:
            found = ask(lambda: topic.search(query), doing="read the log topic")
        except NoLogTopicError as error:
            raise CommandFailed(
                str(error),
                hint="Brokers feed it unless server.log.topic.enable is false; --dir searches their files.",
            ) from error
        if topic.missing:
            names = ", ".join(map(str, topic.missing))
            showing.remark(f"Nobody answers for partition {names} of the log topic: entries are missing.")
        if follows:
            _follow(topic, found, query, showing)
        else:
            _show_found(found, query, showing)


def _follow(topic: LogTopic, found: Newest, query: LogQuery, showing: Showing) -> None:
    """From the first line on, Ctrl-C is the way to end it, and no failure."""
    with Interrupt() as interrupt:
        _show_found(found, query, showing)
        for entries in topic.follow(query):
            showing.show(entries)
            check_for_reader()
            if interrupt.is_asked:
                return


def _show_found(found: Newest, query: LogQuery, showing: Showing) -> None:
    showing.show(found.entries())
    if found.is_cut:
        showing.remark(f"These are the newest {query.limit}; --limit N shows more.")


def _plain(text: str) -> str:
    """What would move the cursor of a terminal, or break a line, is escaped."""
    return text if text.isprintable() else repr(text)
