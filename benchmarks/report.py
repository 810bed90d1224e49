"""Around the lines of every benchmark: options, a directory on the disk to use, what is said and written."""

import argparse
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from subjects import machine
from table import Line, as_json, as_markdown, print_lines

Measure = Callable[[Path, argparse.Namespace], Iterable[Line]]
"""Measures in a directory, line by line."""


def new_parser(description: str | None) -> argparse.ArgumentParser:
    """The options that all benchmarks have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--directory", type=Path, default=Path(), help="where the disk to use is (default: here)")
    add("--json", type=Path, metavar="FILE", help="write everything that was measured")
    add("--markdown", type=Path, metavar="FILE", help="write the table for a page")
    return parser


def report(measure: Measure, options: argparse.Namespace) -> None:
    """Measure, print, and write what was asked for."""
    facts = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": machine(),
        "command": shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
    }
    with tempfile.TemporaryDirectory(prefix=".penstock-bench-", dir=options.directory) as temporary:
        load_before = os.getloadavg()[0]
        lines = list(measure(Path(temporary), options))
    # Of the last minute: before, what others were doing on this machine; after, that and the benchmark.
    facts["load average"] = f"{load_before:.1f} before, {os.getloadavg()[0]:.1f} after"
    print_lines(lines)
    if options.json:
        options.json.write_text(json.dumps(as_json(lines, facts), indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(as_markdown(lines, facts))
