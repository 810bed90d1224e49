"""The process's log on standard error, which is what people and service managers see."""

import logging
import sys
from typing import TextIO

from penstock.broker.logging.formatters import HumanFormatter, JsonFormatter

ROOT = "penstock"


def configure_logging(*, is_verbose: bool, stream: TextIO = sys.stderr) -> None:
    """Send the broker's log to ``stream``."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(HumanFormatter() if stream.isatty() else JsonFormatter())
    root = logging.getLogger(ROOT)
    root.handlers = [handler]
    root.setLevel(logging.DEBUG if is_verbose else logging.INFO)
    root.propagate = False
